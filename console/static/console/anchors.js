// A link that names a message only behind the "#" (a ticket often holds such a one): the server
// never sees it, so where the message is not on the page, the page is asked for around it.
"use strict";
{
    const MESSAGE = /^#m([1-9][0-9]{0,8})$/;

    function goToMessage() {
        const named = MESSAGE.exec(window.location.hash);
        const address = new URL(window.location.href);
        if (named === null || document.getElementById(`m${named[1]}`) !== null) {
            return;
        }
        // Asked for already: then there is no such message.
        if (address.searchParams.get("m") !== named[1]) {
            window.location.replace(`${address.pathname}?m=${named[1]}${address.hash}`);
        }
    }

    window.addEventListener("hashchange", goToMessage);
    goToMessage();
}
