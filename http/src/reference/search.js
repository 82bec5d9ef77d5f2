const search = document.getElementById("search");
search.hidden = false;
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const section of document.querySelectorAll("nav section")) {
    const items = section.querySelectorAll("li");
    let shown = items.length === 0;
    for (const item of items) {
      const text = (item.textContent + " " + item.firstChild.title).toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
      shown = shown || !item.hidden;
    }
    section.hidden = !shown;
  }
});
