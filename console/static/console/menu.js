// The menu of many rights is longer than a small screen: the entry of this page is brought into sight.
"use strict";
{
    const menu = document.getElementById("nav-sidebar");
    const here = menu?.querySelector('[aria-current="page"]')?.getBoundingClientRect();
    if (here) {
        const seen = menu.getBoundingClientRect();
        if (here.top < seen.top || here.bottom > seen.bottom) {
            menu.scrollTop += here.top - seen.top - seen.height / 2;
        }
    }
}
