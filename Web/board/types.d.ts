// The interface of `control/`, as the view uses it. Only the type checker reads this file.
export interface Note {
  id: string; number: number | string; text: string; title?: string; color: string;
  x: number; y: number; width: number; height: number; z: number;
  pinned: boolean; collapsed: boolean; locked: boolean;
  tags: { id: string; name: string }[];
  /** The outgoing links. */
  links: { id: string; to: string; label: string }[];
  createdAt: Date | null; updatedAt: Date | null; author?: string; updatedBy?: string; unsent: boolean;
}
export interface Rect { x: number; y: number; width: number; height: number }
export type Values = Partial<Note> & { board?: string };
export interface Change {
  inserted: string[]; removed: string[]; mine: boolean; isLoad?: boolean; renamed?: { from: string; to: string }[];
  updated: { id: string; properties: string[]; splices?: { start: number; end: number; text: string }[] }[];
}
export interface Peer {
  session: string | number; name: string; color: string; cursor: { x: number; y: number } | null;
  note: string | null; caret: number | null; view: { x: number; y: number; width: number; height: number } | null;
}
export interface Entry { revision: number; at: Date; author: string; summary: string; notes: string[] }
export type Operation = 'insert' | 'update' | 'delete';
export interface ShareLink { id: string; name: string; role: string; created: Date; expires: Date | null; used: Date | null }
export interface Origin {
  value: unknown; previous?: unknown; revision: number; at: Date; author: string; lost?: { value: unknown; author: string }[];
}
export type Gesture = unknown;
export interface Board extends EventTarget {
  id: string; name: string; ready: boolean | Promise<unknown>; canWrite: boolean; role: string | null;
  /** Why the user can't do something with these notes; '' if nothing speaks against it. */
  refusal(operation: Operation, ids?: Iterable<string>): string; refusalOfLink(link: string): string;
  notes: Map<string, Note>; presence: Peer[]; canUndo: boolean; canRedo: boolean;
  insert(values: Values, gesture?: Gesture): string;
  insertMany(values: (Omit<Values, 'tags'> & { tags?: { id?: string; name: string }[] })[], gesture?: Gesture,
    links?: { from: number; to: number; label: string }[]): string[];
  /** The copies have the tags of the notes, and the links between them. */
  duplicate(ids: Iterable<string>, by?: { x: number; y: number }): string[];
  update(ids: string[], values: Values | Map<string, Values>, gesture?: Gesture): void;
  edit(id: string, splice: { start: number; end: number; text: string }, gesture?: Gesture): void;
  delete(ids: string[]): void;
  /** Removes a new note within the step that made it, so that undo does not bring it back. */
  withdraw(id: string, gesture: Gesture): void;
  link(from: string, to: string, label?: string, gesture?: Gesture): void; unlink(link: string): void; label(link: string, text: string): void;
  tag(ids: string[], name: string, gesture?: Gesture): void; untag(ids: string[], name: string, gesture?: Gesture): void;
  gesture(name: string): Gesture; end(gesture: Gesture): void;
  undo(): Promise<string>; redo(): Promise<string>;
  /** `next`: the `before` of the next page; null at the beginning of history. */
  history(range: { limit: number; before?: number }): Promise<{ entries: Entry[]; next: number | null }>;
  at(revision: number): Promise<Map<string, Note>>;
  why(id: string, property: string): Promise<Origin>;
  /** Whether only the notes near the view are in memory, of `total`; `everything` reads all. */
  isPart?: boolean; total?: number; everything(): Promise<Map<string, Note>>;
  /** The rectangle around all notes, and that of one, also of those that are not in memory. */
  bounds(): Promise<Rect | null>; frame(id: string): Promise<Rect | null>;
  restore(ids: string[], revision: number): Promise<unknown>; restoreBoard(revision: number): Promise<unknown>;
  search(text: string): Promise<{ id: string }[]>; searchHere?(text: string): { id: string }[];
  setPresence(presence: Partial<Peer>): void;
  compose(id: string, composing: boolean): void;
  exportAs(form: 'markdown' | 'json'): string | Promise<string>;
  close?(): void; look?(view: { x: number; y: number; width: number; height: number }): void;
}
export interface Conflict {
  key: string; note: string; number: number | string; property: string; mine: unknown; theirs: unknown;
  author: string; when: Date; reason: string;
  /** Of a text, the one with both edits, from which a merged one is written; else null. */
  merged: string | null;
}
export interface Session extends EventTarget {
  status: { kind: string; unsent: number; parked: number; message: string; keeps: string; update?: boolean; reloadsOffline?: boolean };
  user: { name: string; role?: string; canWrite: boolean } | null;
  boards: { id: string; name: string; notes: number | null; isReadOnly?: boolean; canRename: boolean; canDelete: boolean; canShare: boolean }[];
  refusalOfNewBoard: string; refusalOfSharing(board: string): string;
  boardID?: string | null;
  /** The others on all boards. */
  people?: (Peer & { board: string })[];
  conflicts: Conflict[];
  start(): void;
  openBoard(id: string): Board;
  createBoard(name: string): Promise<string | { id: string } | void>;
  renameBoard(id: string, name: string): Promise<unknown>; deleteBoard(id: string): Promise<unknown>;
  retry(key: string): unknown; resolve(key: string, value: string): unknown; discard(key: string): unknown;
  exportUnsent(): Blob | Promise<Blob>; shareLink(board: string, days: number | null): Promise<string>;
  shareLinks(board: string): Promise<ShareLink[]>; removeShareLink(link: string): Promise<unknown>;
  signOut?(): Promise<unknown>; refreshBoards?(): unknown;
}
