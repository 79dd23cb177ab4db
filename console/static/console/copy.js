// Copies an identifier, and says so to the eye and to screen readers.
"use strict";
{
    const SHOWN_FOR = 1500;

    function textOf(button) {
        if (button.dataset.copy !== undefined) {
            return button.dataset.copy;
        }
        return button.parentElement.querySelector(".ident-text").textContent;
    }

    function copyBySelecting(text) {
        // Over plain HTTP browsers offer no clipboard to scripts, only the old command.
        const field = document.createElement("textarea");
        field.value = text;
        field.className = "visually-hidden";
        document.body.append(field);
        field.select();
        const isCopied = document.execCommand("copy");
        field.remove();
        return isCopied;
    }

    async function copy(text) {
        if (navigator.clipboard === undefined) {
            return copyBySelecting(text);
        }
        try {
            await navigator.clipboard.writeText(text);
            return true;
        } catch {
            return copyBySelecting(text);
        }
    }

    function say(words) {
        const live = document.getElementById("live");
        if (live !== null) {
            live.textContent = "";
            // A region that gets the same words again is read again only after it was empty.
            setTimeout(() => { live.textContent = words; }, 50);
        }
    }

    function showSign(button, name) {
        button.querySelector("use").setAttribute("href", name);
    }

    document.addEventListener("click", async (event) => {
        const button = event.target.closest(".copy");
        if (button === null) {
            return;
        }
        if (!await copy(textOf(button))) {
            say("Could not be copied");
            return;
        }
        button.focus();
        button.classList.add("is-copied");
        showSign(button, "#i-check");
        say("Copied");
        setTimeout(() => {
            button.classList.remove("is-copied");
            showSign(button, "#i-copy");
        }, SHOWN_FOR);
    });
}
