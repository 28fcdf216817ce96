(function () {
  var sweep = JSON.parse(document.getElementById("sweep").textContent);
  var slider = document.getElementById("count");
  if (!slider || !sweep.length) { return; }
  document.getElementById("slide").hidden = false;
  function show() {
    var one = sweep[Number(slider.value)];
    document.getElementById("chosen").textContent = one.words;
    document.getElementById("chosen-line").setAttribute("d", one.path);
    slider.setAttribute("aria-valuetext", one.words);
  }
  slider.addEventListener("input", show);
  show();
})();
