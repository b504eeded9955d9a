// The boards of the fake session: short plain notes, as people write them.

/** @typedef {[text: string, color: string, x: number, y: number, width?: number, height?: number, more?: object]} Row */

/** @type {Row[]} */
const garden = [
  ['# Garden, spring\nWhat to sow, and when.', 'white', 0, 0, 420, 120, { pinned: true }],
  ['Beans\n- [x] soak over night\n- [ ] sow after the frost\n- [ ] poles from the shed', 'green', 0, 140, 200, 200, { tags: ['sow'], links: [2] }],
  ['Tomatoes\nPrick out **12 pots**, basil beside them. Not before the *middle of May*.', 'red', 220, 140, 200, 200, { tags: ['sow', 'greenhouse'] }],
  ['Seeds to order\n1. radish\n2. rocket\n3. dill\n4. marigold', 'blue', 460, 0, 200, 200, { tags: ['buy'], links: [5] }],
  ['Water butt leaks', 'orange', 460, 220, 200, 120, { pinned: true, tags: ['repair'] }],
  ['First frost was on 14 October', 'teal', 720, 0, 200, 160],
  ['Ask about a lift to the seed swap on Saturday, 10 o’clock at the hall', 'yellow', 720, 180, 200, 160, { tags: ['buy'] }],
  ['Compost\nTurn it every two weeks. Straw, then green, then straw again.', 'brown', 0, 360, 200, 180],
  ['Paths\nWood chips: `2 m³`\nEdges first, then fill', 'gray', 220, 360, 200, 180, { locked: true }],
  ['Swallows are back!', 'pink', 460, 360, 200, 180],
  ['Bed plan\n> carrots · onions\n> leeks · celery\n> beets\n\nRotate in autumn', 'purple', 720, 360, 200, 200, { tags: ['plan'] }],
  ['البستان\nالبذور والماء قبل الفجر', 'yellow', 940, 0, 200, 160, { tags: ['plan'] }],
  ['Blackbird nest in the hedge: leave that side alone until July', 'green', 940, 180, 200, 160],
  ['Tools to sharpen', 'white', 940, 360, 200, 44, { collapsed: true, tags: ['repair'] }],
  ['Shears, hoe, the long saw', 'white', 940, 420, 200, 120],
];

/** @type {Row[]} */
const kitchen = [
  ['Bread\n- 500 g flour\n- 350 g water\n- 10 g salt\n- starter', 'orange', 0, 0, 200, 220],
  ['Soup for Thursday', 'green', 220, 0],
  ['Jars: 12 left', 'blue', 440, 0, 200, 120],
  ['Fix the tap', 'red', 440, 140, 200, 80, { tags: ['repair'] }],
  ['Elderflower\nPick in June, dry weather, away from the road', 'yellow', 0, 240, 200, 160],
];

/** @type {Row[]} */
const trip = [
  ['# Coast, June', 'white', 0, 0, 300, 90, { pinned: true }],
  ['Trains\n08:14 → 11:52\nSeats 41, 42', 'blue', 0, 110, 200, 160, { tags: ['booked'] }],
  ['To pack\n- [x] tent\n- [x] stove\n- [ ] rain coats\n- [ ] maps', 'yellow', 220, 110, 200, 200],
  ['Campsite: pay on arrival', 'orange', 440, 110, 200, 120],
  ['Tides: low at 06:40', 'teal', 440, 250, 200, 100],
];

const words = 'call order plant read write paint sand oil fix wash sort fold bring send count draw'.split(' ');
const things = 'the shed, seeds, a letter, the fence, two chairs, the bike, jars, the map, books, the boat, rope, boxes'.split(', ');
const palette = ['yellow', 'orange', 'red', 'pink', 'purple', 'blue', 'teal', 'green', 'brown', 'gray', 'white'];

/** @param {number} count @returns {Row[]} */
const many = (count) => Array.from({ length: count }, (_, i) => {
  const columns = Math.ceil(Math.sqrt(count));
  const text = `${words[i % words.length]} ${things[(i * 7) % things.length]}` + (i % 3 ? '' : `\n- [ ] ${things[i % 12]}\n- [x] ${words[i % 16]} **first**`);
  return [text[0].toUpperCase() + text.slice(1), palette[(i * 7919 + (i * i) % 31) % 11], (i % columns) * 220, Math.floor(i / columns) * 220, 200, 200, i % 9 ? {} : { tags: [things[i % 12]] }];
});

/** Texts that must be shown as they are, never as markup. */
export const hostile = [
  '<img src=x onerror=alert(1)>', '<script>alert(1)</script>', '[x](javascript:alert(1))', '[x](data:text/html,<script>alert(1)</script>)',
  '"><svg onload=alert(1)>', '<a href="javascript:alert(1)">x</a>', '`<b>`', '![x](x onerror=alert(1))', '&lt;b&gt; &amp; &#x3c;',
  'javascript:alert(1)', '<https://a.b/"onmouseover="alert(1)>', '[a](<javascript:alert(1)>)', '</textarea><script>alert(1)</script>', '\u202Eevil\u202C \u0000 \uFFFE',
];

/** @param {number} count @param {boolean} isHostile */
export function boards(count, isHostile) {
  if (isHostile) {
    return [{ name: hostile[0], rows: hostile.map((text, i) => /** @type {Row} */ ([text, i % 2 ? 'yellow' : 'blue', (i % 5) * 220, Math.floor(i / 5) * 220, 200, 200, { tags: [hostile[(i + 1) % hostile.length]], links: i ? [0] : [], label: hostile[i] }])) }];
  }
  if (count) return [{ name: 'Ten thousand', rows: many(count) }];
  return [{ name: 'Garden', rows: garden }, { name: 'Kitchen', rows: kitchen }, { name: 'Trip to the coast', rows: trip }, { name: 'Workshop', rows: /** @type {Row[]} */ ([]) }];
}
