# SPDX-License-Identifier: BSD-3-Clause
"""Looks at report.html in a browser: python3 mpicheck_page.py BROWSER PAGE HOSTS. A script at the end of a copy presses each
switch and points at cells; what it sees stands in the document that the browser prints."""
import os
import re
import subprocess
import sys
import tempfile

browser, page, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
LOOK = """
<script>
{
const seen = [];
window.onerror = text => { seen.push("error " + text); };
function picture() {
  const canvas = document.getElementById("cells"), pen = canvas.getContext("2d");
  const pixels = pen.getImageData(0, 0, canvas.width, canvas.height).data;
  let sum = 0;
  const colours = new Set();
  for (let i = 0; i < pixels.length; i += 4) {
    const value = pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2];
    colours.add(value);
    sum = (sum * 31 + value) % 1000003;
  }
  return [sum, colours];
}
seen.push("drawn " + document.documentElement.dataset.drawn);
seen.push("width " + document.getElementById("cells").width);
const [first, colours] = picture();
seen.push("well " + colours.has(0x2f8f4e), "slow " + colours.has(0xee8b3a));
const sums = [];
for (const button of document.querySelectorAll("button")) {
  button.click();
  sums.push(picture()[0]);
}
seen.push("buttons " + sums.length, "pictures " + new Set(sums).size);
document.getElementById("switches_bandwidth").click();
document.getElementById("orders_name").click();
seen.push("back " + (picture()[0] === first));
// a mouse is at whole pixels, a canvas need not be: the first whole one in the cell
const box = document.getElementById("cells").getBoundingClientRect(), at = (side, k) => Math.ceil(side + margin + k * cell);
document.getElementById("cells").dispatchEvent(new MouseEvent("mousemove", {clientX: at(box.left, 0), clientY: at(box.top, 2)}));
seen.push("pointed " + document.getElementById("pointed").textContent);
seen.push("rows " + document.querySelectorAll("#hosts tr").length, "facts " + document.querySelectorAll("#facts tr").length);
const nodes = [...document.querySelectorAll("#hosts .node")];
seen.push("nodes " + nodes.map(node => node.textContent + " " + node.querySelectorAll(".core").length).slice(0, 2).join(", "));
seen.push("boxes " + nodes.length, "barred " + document.querySelectorAll("#hosts .barred").length);
seen.push("findings " + [...document.querySelectorAll("#findings tr")].filter(row => row.textContent.startsWith("FAIL")).length);
const list = document.createElement("pre");
list.id = "seen";
list.textContent = seen.join("\\n");
document.body.appendChild(list);
}
</script>
</body>"""

wrong = []
with open(page, encoding="utf-8") as file:
    text = file.read()
with tempfile.TemporaryDirectory() as folder:
    copy = os.path.join(folder, "page.html")
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text.replace("</body>", LOOK))
    done = subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=60000",
                           f"--user-data-dir={folder}/profile", "--dump-dom", f"file://{copy}"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1800, check=False)
found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout.decode(errors="replace"), re.S)
if not found:
    print("WRONG: the page did not run:", done.stderr.decode(errors="replace")[-2000:])
    sys.exit(1)
seen = dict(line.split(" ", 1) for line in found.group(1).replace("&gt;", ">").splitlines())


def expect(key, wanted):
    if not re.fullmatch(wanted, seen.get(key, "")):
        wrong.append(f"{key}: got {seen.get(key)!r}, wanted {wanted}")


expect("drawn", "yes")
expect("width", str(count) if count > 900 else r"\d{3}")
expect("well", "true")
expect("slow", "true")
expect("buttons", "8")
expect("pictures", "[4-8]")
expect("back", "true")
expect("pointed", r"n0003 -> n0001: [23]\.\d\d GB/s \(2\d %\), 2\.\d us \(99 of 100: \d\.\d\), eth0 10\.0\.0\.3 -> 10\.0\.0\.1, alone .*")
expect("rows", str(count + 1))
expect("facts", "3" if count > 4 else "1")
expect("nodes", "0 10, 1 eth0 10")
expect("boxes", str(2 * count))
expect("barred", str(4 * count))
expect("findings", "2")
if "error" in seen:
    wrong.append(f"error {seen['error']}")
for line in wrong:
    print("WRONG:", line)
sys.exit(bool(wrong))
