"use strict";
// Contents: open beside the text, closed above it; a chosen entry closes them again.
const contents = document.querySelector("nav details");
const narrow = matchMedia("(max-width: 60rem)");
const arrange = () => { contents.open = !narrow.matches; };
narrow.addEventListener("change", arrange);
arrange();
contents.addEventListener("click", (event) => {
  if (narrow.matches && event.target.closest("a")) contents.open = false;
});
