// A session without a server, for the tests and pictures of the view. It keeps the boards in memory, has undo, history and
// conflicts, and plays two other people. The page's query chooses the state: ?notes=10000&part=1&status=offline&role=reader&
// people=2&conflicts=1&hostile=1&empty=1&none=1.

import { find, parse } from './board.js';
import { boards as samples, hostile } from './boards.js';

const query = new URLSearchParams(location.search);
const people = query.has('hostile') ? [hostile[0], hostile[4]] : ['Ann', 'Ben', 'Mia Chen', 'Ola'];
const personColors = ['#c2410c', '#0e7490', '#7e22ce', '#15803d'];
/** The clock of the fake: entries are minutes apart. */
const start = Date.now() - 3 * 3600_000;
let serial = 0, revision = 100;
const newID = () => `id${(++serial).toString(36).padStart(6, '0')}`;

class FakeBoard extends EventTarget {
  notes = new Map(); role = query.get('role') ?? 'owner'; ready = true; presence = []; steps = []; undone = []; entries = []; listeners = 0;
  mine = null;

  constructor(name, rows) {
    super();
    this.id = newID(), this.name = name;
    const ids = rows.map(newID);
    rows.forEach(([text, color, x, y, width = 200, height = 200, more = {}], i) => {
      const { tags = [], links = [], label = '', ...rest } = more;
      this.notes.set(ids[i], {
        id: ids[i], number: i + 1, text, color, x, y, width, height, z: i, pinned: false, collapsed: false, locked: false, unsent: false,
        tags: tags.map((t) => ({ id: 'tag-' + t, name: t })), links: links.map((l, k) => ({ id: newID(), to: ids[l], label: label || (k || i !== 3 ? '' : 'swap') })),
        createdAt: new Date(start - 864e5), updatedAt: new Date(start + i * 600_000), author: people[i % 2], updatedBy: people[i % 2], ...rest,
      });
    });
    if (rows.length < 200) this.#remember();
    if (query.has('part')) this.#all = new Map(this.notes), this.notes.clear(), this.#read({ x: 0, y: 0, width: 1600, height: 1000 });
  }

  /** With ?part, all notes; `notes` are those around the visible area, as on boards of more than 10,000 notes. */
  #all = null;
  get isPart() { return this.#all !== null; }
  get total() { return this.#all?.size ?? this.notes.size; }

  #read({ x, y, width, height }) {
    const isNear = (n) => n.x < x + 2 * width && n.x + n.width > x - width && n.y < y + 2 * height && n.y + n.height > y - height;
    const near = new Map([...this.#all].filter(([, n]) => isNear(n)).slice(-1000));
    const removed = [...this.notes.keys()].filter((id) => !near.has(id)), inserted = [...near.keys()].filter((id) => !this.notes.has(id));
    for (const id of removed) this.notes.delete(id);
    for (const id of inserted) this.notes.set(id, near.get(id));
    return { inserted, removed };
  }

  look(area) {
    if (!this.#all) return;
    queueMicrotask(() => {
      const { inserted, removed } = this.#read(area);
      if (inserted.length + removed.length) this.#emit({ inserted, removed, mine: false, isLoad: true });
    });
  }

  async bounds() {
    const all = [...(this.#all ?? this.notes).values()], x = Math.min(...all.map((n) => n.x)), y = Math.min(...all.map((n) => n.y));
    return { x, y, width: Math.max(...all.map((n) => n.x + n.width)) - x, height: Math.max(...all.map((n) => n.y + n.height)) - y };
  }

  async frame(id) { return (this.#all ?? this.notes).get(id) ?? null; }

  /** Some commits of the past, so that the history has something to show. */
  #remember() {
    const all = [...this.notes.values()];
    let state = new Map();
    all.forEach((n, i) => {
      state = new Map(state).set(n.id, { ...n });
      this.entries.push({ revision: ++revision, at: new Date(start + i * 300_000), author: people[i % 2], summary: `added note ${n.number}`, notes: [n.id], state });
      if (i % 3 === 1) {
        const other = all[i - 1];
        state = new Map(state).set(other.id, { ...other, color: 'yellow', x: other.x + 60, y: other.y + 40 });
        this.entries.push({ revision: ++revision, at: new Date(start + i * 300_000 + 90_000), author: people[(i + 1) % 2], summary: `moved note ${other.number}`, notes: [other.id], state });
      }
    });
    if (all.length) this.entries.push({ revision: ++revision, at: new Date(start + all.length * 300_000), author: 'You', summary: 'tidied up the board', notes: all.slice(0, 3).map((n) => n.id), state: new Map(this.notes) });
  }

  get canWrite() { return this.refusal('insert') === ''; }

  /** As Web/control/account.js judges. */
  refusal(operation, ids = []) {
    if (this.role === 'reader') return 'you can read this board, but not change it: your role here is reader';
    if (this.role !== 'commenter' || operation === 'insert') return '';
    const other = [...ids].map((id) => this.notes.get(id)).find((note) => note && note.author !== 'You');
    return other ? `note ${other.number} is someone else’s: your role here is commenter, which changes only your own` : '';
  }

  refusalOfLink() { return this.refusal('insert'); }

  /** The role changes while the board is open. */
  setRole(role) {
    this.role = role;
    this.dispatchEvent(new CustomEvent('rights', { detail: { message: `your role on this board is ${role} now` } }));
  }

  #emit(detail) { this.dispatchEvent(new CustomEvent('change', { detail: { inserted: [], updated: [], removed: [], mine: true, ...detail } })); }

  #record(ids, gesture, summary) {
    const before = new Map(ids.map((id) => [id, this.notes.get(id)]));
    const last = this.steps.at(-1);
    if (gesture && last?.gesture === gesture) { for (const [id, n] of before) if (!last.before.has(id)) last.before.set(id, n); } else this.steps.push({ gesture, before, summary });
    this.undone = [];
  }

  #logged(ids, summary) {
    if (this.notes.size < 200) this.entries.push({ revision: ++revision, at: new Date(), author: 'You', summary, notes: ids, state: new Map(this.notes) });
  }

  insertMany(list, gesture, links = []) {
    const ids = list.map(() => newID());
    this.#record(ids, gesture, 'adding a note');
    let number = Math.max(0, ...[...this.notes.values()].map((n) => n.number));
    list.forEach((values, i) => this.notes.set(ids[i], { text: '', color: 'yellow', x: 0, y: 0, width: 200, height: 200, z: 0, pinned: false, collapsed: false, locked: false, tags: [], links: [], unsent: query.get('status') === 'offline', createdAt: new Date(), updatedAt: new Date(), author: 'You', updatedBy: 'You', ...values,
      tags: (values.tags ?? []).map(({ name }) => ({ id: 'tag-' + name, name })), links: links.filter((l) => l.from === i).map(({ to, label }) => ({ id: newID(), to: ids[to], label })),
      id: ids[i], number: ++number,
    }));
    this.#logged(ids, ids.length === 1 ? `added note ${number}` : `added ${ids.length} notes`);
    this.#emit({ inserted: ids });
    return ids;
  }

  insert(values, gesture) { return this.insertMany([values], gesture)[0]; }

  duplicate(ids, by) {
    const notes = [...ids].map((id) => this.notes.get(id)), placeOf = new Map(notes.map((n, i) => [n.id, i]));
    const links = notes.flatMap((n, from) => n.links.filter((l) => placeOf.has(l.to)).map((l) => ({ from, to: placeOf.get(l.to), label: l.label })));
    const top = Math.max(0, ...[...this.notes.values()].map((n) => n.z));
    return this.insertMany(notes.map(({ text, color, x, y, width, height, collapsed, tags }, i) => ({ text, color, x: x + by.x, y: y + by.y, width, height, collapsed, tags, z: top + 1 + i })), null, links);
  }

  #write(ids, of, gesture, summary, extra = {}) {
    this.#record(ids, gesture, summary);
    const updated = [];
    for (const id of ids) {
      const note = this.notes.get(id), values = of(id);
      if (!note || !values) continue;
      this.notes.set(id, { ...note, ...values, unsent: query.get('status') === 'offline', updatedAt: new Date(), updatedBy: 'You' });
      updated.push({ id, properties: Object.keys(values), ...extra });
    }
    if (!gesture) this.#logged(ids, summary);
    this.#emit({ updated });
  }

  update(ids, values, gesture) { this.#write(ids, (id) => values instanceof Map ? values.get(id) : values, gesture, 'a change'); }

  edit(id, { start, end, text }, gesture) {
    const note = this.notes.get(id);
    this.#write([id], () => ({ text: note.text.slice(0, start) + text + note.text.slice(end) }), gesture, 'an edit');
  }

  delete(ids) {
    this.#record(ids, null, 'a deletion');
    for (const id of ids) this.notes.delete(id);
    this.#logged(ids, `deleted ${ids.length} notes`);
    this.#emit({ removed: ids });
  }

  withdraw(id) {
    this.steps = this.steps.filter((step) => !step.before.has(id));
    this.notes.delete(id);
    this.#emit({ removed: [id] });
  }

  link(from, to, label = '', gesture = null) { this.#write([from], () => ({ links: [...this.notes.get(from).links, { id: newID(), to, label }] }), gesture, 'a link'); }
  unlink(link) { for (const n of this.notes.values()) if (n.links.some((l) => l.id === link)) this.#write([n.id], () => ({ links: n.links.filter((l) => l.id !== link) }), null, 'removing a link'); }
  label(link, label) { for (const n of this.notes.values()) if (n.links.some((l) => l.id === link)) this.#write([n.id], () => ({ links: n.links.map((l) => l.id === link ? { ...l, label } : l) }), null, 'a label'); }
  tag(ids, name, gesture) { this.#write(ids, (id) => ({ tags: [...this.notes.get(id).tags.filter((t) => t.name !== name), { id: 'tag-' + name, name }] }), gesture ?? null, 'a tag'); }
  untag(ids, name) { this.#write(ids, (id) => ({ tags: this.notes.get(id).tags.filter((t) => t.name !== name) }), null, 'removing a tag'); }
  gesture(name) { return { name }; }
  end() {}
  get canUndo() { return this.steps.length > 0; }
  get canRedo() { return this.undone.length > 0; }

  async #swap(from, to, word) {
    const step = from.pop();
    if (!step) return `There is nothing to ${word}`;
    const inserted = [], updated = [], removed = [], now = new Map([...step.before.keys()].map((id) => [id, this.notes.get(id)]));
    for (const [id, note] of step.before) {
      if (note && this.notes.has(id)) updated.push({ id, properties: ['text'] });
      else (note ? inserted : removed).push(...(note || this.notes.has(id) ? [id] : []));
      if (note) this.notes.set(id, note);
      else this.notes.delete(id);
    }
    to.push({ ...step, before: now });
    this.#emit({ inserted, updated, removed });
    return `${word === 'undo' ? 'Undid' : 'Redid'} ${step.summary}`;
  }

  undo() { return this.#swap(this.steps, this.undone, 'undo'); }
  redo() { return this.#swap(this.undone, this.steps, 'redo'); }
  async history({ limit, before = Infinity }) {
    const all = this.entries.filter((e) => e.revision < before), entries = all.slice(-limit).reverse();
    return { entries, next: all.length > limit ? entries.at(-1).revision : null };
  }

  /** Set by tests: called before each read of the past. */
  beforeRead = async () => {};
  async at(r) { await this.beforeRead(r); return this.entries.find((e) => e.revision === r)?.state ?? new Map(this.notes); }
  async why(id, property) {
    const n = this.notes.get(id);
    return { value: n[property], previous: property === 'color' ? 'white' : null, lost: property === 'color' ? [{ value: 'red', author: people[1] }] : [], revision: 100 + n.number, at: n.updatedAt, author: n.updatedBy };
  }

  async everything() { return this.#all ?? this.notes; }

  async restore(ids, r) {
    const state = await this.at(r);
    this.#write(ids.filter((id) => this.notes.has(id)), (id) => state.get(id), null, 'restoring notes');
  }

  async restoreBoard(r) { await this.restore([...this.notes.keys()], r); }

  async search(text) {
    const words = parse(text);
    return [...(this.#all ?? this.notes).values()].flatMap((n) => find(words, n.text) ? [{ id: n.id, ranges: [] }] : []);
  }

  setPresence(presence) { this.mine = presence; }
  compose(id, composing) { this.composing = composing ? id : null; }
  exportAs(form) { return form === 'json' ? JSON.stringify([...this.notes.values()], null, 2) : [...this.notes.values()].map((n) => n.text).join('\n\n---\n\n'); }

  // MARK: - Other people, for tests

  /** Another person changes a text. */
  other(id, start, end, text) {
    const note = this.notes.get(id);
    this.notes.set(id, { ...note, text: note.text.slice(0, start) + text + note.text.slice(end), updatedBy: people[0] });
    this.dispatchEvent(new CustomEvent('change', { detail: { inserted: [], removed: [], mine: false, updated: [{ id, properties: ['text'], splices: [{ start, end, text }] }] } }));
  }

  otherInsert(values) {
    const id = newID();
    this.notes.set(id, { ...[...this.notes.values()][0], tags: [], links: [], pinned: false, ...values, id, number: this.notes.size + 1, author: people[0] });
    this.dispatchEvent(new CustomEvent('change', { detail: { inserted: [id], updated: [], removed: [], mine: false } }));
    return id;
  }

  otherMove(id, x, y) {
    this.notes.set(id, { ...this.notes.get(id), x, y });
    this.dispatchEvent(new CustomEvent('change', { detail: { inserted: [], removed: [], mine: false, updated: [{ id, properties: ['x', 'y'] }] } }));
  }

  /** The first person writes in a note. */
  write(note, caret) {
    this.presence = this.presence.map((p, i) => (i ? p : { ...p, note, caret }));
    this.dispatchEvent(new Event('presence'));
  }

  otherDelete(id) {
    this.notes.delete(id);
    this.dispatchEvent(new CustomEvent('change', { detail: { inserted: [], updated: [], removed: [id], mine: false } }));
  }

  setPeople(count) {
    const notes = [...this.notes.values()], spots = [[330, 300, 1], [760, 120, null], [90, 470, null], [560, 470, 9]];
    this.presence = people.slice(0, count).map((name, i) => ({
      session: i + 1, name, color: personColors[i], cursor: { x: spots[i][0], y: spots[i][1] }, note: spots[i][2] === null ? null : notes[spots[i][2]]?.id ?? null,
      caret: i ? null : notes[spots[i][2]]?.text.indexOf('frost') + 5, view: { x: -100, y: -100, width: 1100, height: 700 },
    }));
    this.dispatchEvent(new Event('presence'));
  }
}

export class Session extends EventTarget {
  status = { kind: 'connecting', unsent: 0, parked: 0, message: 'Connecting to the server.', keeps: 'durable' };
  user = { name: 'you', role: query.get('role') ?? 'owner', canWrite: query.get('role') !== 'reader' };
  refusalOfNewBoard = query.get('role') === 'reader' ? 'you can’t make boards' : '';
  links = [{ id: 'aa', name: 'garden club', role: 'reader', created: new Date(Date.now() - 864e5), expires: new Date(Date.now() + 2e9), used: new Date(Date.now() - 36e5) }];
  boardID = null; conflicts = []; list = [];

  start() {
    const kind = query.get('status') ?? (query.get('role') === 'reader' ? 'readOnly' : 'live');
    const messages = { live: 'Connected: changes appear at once.', offline: 'No network. Your edits are kept and sent later.', reconnecting: 'The server does not answer. Trying again.', readOnly: 'You can read this board.', signedOut: 'Sign in: stickies login --browser prints a link.', notAllowed: 'Your account may not open this board.' };
    this.list = query.has('none') ? [] : query.has('empty') ? [new FakeBoard('Workshop', [])] : samples(Number(query.get('notes') ?? 0), query.has('hostile')).map(({ name, rows }) => new FakeBoard(name, rows));
    for (let i = 0; i < Number(query.get('boards') ?? 0); i++) this.list.push(new FakeBoard(`Box ${i + 1}`, []));
    this.status = { ...this.status, kind, message: messages[kind] ?? kind, unsent: Number(query.get('unsent') ?? 0) };
    if (query.has('conflicts')) {
      const [, a, b] = this.list[0].notes.values();
      this.conflicts = [
        { key: '1', note: a.id, number: a.number, property: 'text', mine: 'Beans\nsow on the south side', theirs: a.text, author: people[0], when: new Date(Date.now() - 240_000), reason: 'Both of you changed the same line.', merged: `${a.text}\nsow on the south side` },
        { key: '2', note: b.id, number: b.number, property: 'color', mine: 'pink', theirs: 'red', author: people[1], when: new Date(Date.now() - 900_000), reason: 'The color was changed after your edit.', merged: null }];
      this.status = { ...this.status, parked: 2 };
    }
    globalThis.fake = this;
    this.dispatchEvent(new Event('boards')), this.dispatchEvent(new Event('status')), this.dispatchEvent(new Event('conflicts'));
    if (query.has('people')) this.list[0].setPeople(Number(query.get('people')));
  }

  get boards() { return this.list.map((b) => ({ id: b.id, name: b.name, notes: b.notes.size, canRename: b.canWrite, canDelete: b.canWrite, canShare: b.role === 'owner', isReadOnly: !b.canWrite })).sort((a, b) => a.name.localeCompare(b.name)); }
  openBoard(id) { return this.list.find((b) => b.id === id); }
  async createBoard(name) { const b = new FakeBoard(name, []); this.list.push(b), this.dispatchEvent(new Event('boards')); return b.id; }
  async renameBoard(id, name) { this.openBoard(id).name = name, this.dispatchEvent(new Event('boards')); }
  async deleteBoard(id) { const b = this.openBoard(id); this.list = this.list.filter((o) => o !== b), b.dispatchEvent(new CustomEvent('gone', { detail: { message: `the board “${b.name}” was deleted` } })), this.dispatchEvent(new Event('boards')); }
  retry(key) { this.discard(key); }
  resolve(key, value) { this.list[0].update([this.conflicts.find((c) => c.key === key).note], { text: value }), this.discard(key); }
  discard(key) {
    this.conflicts = this.conflicts.filter((c) => c.key !== key), this.status = { ...this.status, parked: this.conflicts.length };
    this.dispatchEvent(new Event('conflicts')), this.dispatchEvent(new Event('status'));
  }
  exportUnsent() { return new Blob(['{}\n']); }
  refusalOfSharing(id) { const { role } = this.openBoard(id); return role === 'owner' ? '' : `only an owner can share a board: your role here is ${role}`; }
  async shareLink(id, days) {
    this.links.unshift({ id: newID(), name: `link ${this.links.length}`, role: 'reader', created: new Date(), expires: days && new Date(Date.now() + days * 864e5), used: null });
    return `${location.origin}/#share=stk_example&board=${id}`;
  }

  async shareLinks() { return this.links; }
  async removeShareLink(id) { this.links = this.links.filter((link) => link.id !== id); }
  async signOut() { this.status = { ...this.status, kind: 'signedOut' }, this.dispatchEvent(new Event('status')); }
  setStatus(kind, unsent = 0) { this.status = { ...this.status, kind, unsent }, this.dispatchEvent(new Event('status')); }
}
