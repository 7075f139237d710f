"""Every view on a telephone, a tablet and a desk, in light and dark: nothing overlaps, all can be read."""

import pytest
from lab.labpage import APP, serve, stop, tab

from separatrix.lab.algorithms import ALGORITHMS

pytestmark = pytest.mark.long

DATA = {
    "softmax": "three",
    "naive_bayes": "three",
    "lift": "circle",
    "hard_margin": "xor",
    "kernel_perceptron": "moons",
}
WIDTHS = (390, 820, 1400)  # pixels

# Visible pieces of text that overlap; what sticks out of the page; what is fainter than 4.5 to 1 on its ground.
GEOMETRY = """() => {
  const found = {overlaps: [], outside: [], faint: []}, pieces = [], wide = window.innerWidth;
  document.querySelector('.lab-time').style.position = 'static';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest('.lab-hidden, option, textarea') || !parent.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const r of range.getClientRects()) {
      if (r.width < 1 || r.height < 1) continue;
      pieces.push({text: node.data.trim().slice(0, 40), left: r.left, right: r.right, top: r.top, bottom: r.bottom});
      if (r.left < -0.5 || r.right > wide + 0.5) found.outside.push(node.data.trim().slice(0, 40));
    }
    if (parent.closest(':disabled, [aria-pressed="true"]')) continue;
    let ground = parent;
    const clear = (element) => /, 0\\)$|transparent/.test(getComputedStyle(element).backgroundColor);
    while (ground && clear(ground)) ground = ground.parentElement;
    const pair = [getComputedStyle(parent).color, getComputedStyle(ground ?? document.body).backgroundColor];
    const [a, b] = pair.map(light).sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) found.faint.push([node.data.trim().slice(0, 40), ...pair]);
  }
  pieces.sort((a, b) => a.top - b.top);
  for (let i = 0; i < pieces.length; i++) for (let j = i + 1; j < pieces.length; j++) {
    const a = pieces[i], b = pieces[j];
    if (b.top > a.bottom - 3) break;
    if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1) found.overlaps.push([a.text, b.text]);
  }
  for (const element of document.querySelectorAll('.lab *')) {
    const r = element.getBoundingClientRect();
    if (!r.width || element.closest('.lab-hidden')) continue;
    if (r.left < -0.5 || r.right > wide + 0.5) found.outside.push(element.className);
  }
  if (document.documentElement.scrollWidth > wide) found.outside.push('the page itself');
  return found;
}"""

# How many pixels of the plane have the colours of the first two classes.
COUNTED = """() => {
  const app = document.getElementById('lab').lab, canvas = app.panes[0].plane.canvas;
  const d = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  return app.colours.rgb.slice(0, 2).map(([r, g, b]) => {
    let n = 0;
    for (let i = 0; i < d.length; i += 4) n += d[i] === r && d[i + 1] === g && d[i + 2] === b && d[i + 3] === 255;
    return n;
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_view_can_be_read(browser, width, scheme):
    with tab(browser, viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
        for name in ALGORITHMS:
            page.stage(name, DATA.get(name, "overlapping"))
            assert page.page.evaluate(GEOMETRY) == {"overlaps": [], "outside": [], "faint": []}, name
        page.stage("perceptron", "cube", init="1,1,-2", shuffle="true")
        assert page.page.evaluate(GEOMETRY) == {"overlaps": [], "outside": [], "faint": []}
        page.page.get_by_role("button", name="Compare", exact=True).click()
        page.page.locator(".lab-lessons").select_option("2")
        page.settled()
        assert page.page.evaluate(GEOMETRY) == {"overlaps": [], "outside": [], "faint": []}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_plane_is_drawn_in_the_colours_of_the_scheme(browser, scheme):
    server = serve()
    with tab(browser, server, color_scheme=scheme) as page:
        page.settled()
        colours = page.js(f"{APP}.colours")
        assert (colours["paper"] == "#ffffff") == (scheme == "light")
        seen = page.page.evaluate(COUNTED)
        assert min(seen) > 500  # twenty points of each class
        page.page.emulate_media(color_scheme="dark" if scheme == "light" else "light")
        page.until(f"{APP}.colours.paper !== '{colours['paper']}'")  # at once, without a new page
    stop(server)
