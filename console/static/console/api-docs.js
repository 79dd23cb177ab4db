// Swagger UI's dark theme is a class; it follows the system, as the console does.
const darkness = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", darkness.matches);
darkness.addEventListener("change", follow);
follow();
