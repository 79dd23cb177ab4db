// On a narrow screen the groups of filters stand above the list: folded, so that the list is in sight.
// What is chosen there is said in the group's line.
"use strict";
if (window.matchMedia("(max-width: 767px)").matches) {
    for (const group of document.querySelectorAll("#changelist-filter details[open]")) {
        const chosen = group.querySelector("li.selected:not(:first-child) a");
        if (chosen) {
            const said = document.createElement("b");
            said.textContent = `: ${chosen.textContent.trim()}`;
            group.querySelector("summary").append(said);
        }
        group.open = false;
    }
}
