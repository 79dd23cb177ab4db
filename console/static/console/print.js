// The button of a page that is made to be printed. Without scripts the browser's own menu prints it.
"use strict";
for (const button of document.querySelectorAll("[data-print]")) {
    button.hidden = false;
    button.addEventListener("click", () => window.print());
}
