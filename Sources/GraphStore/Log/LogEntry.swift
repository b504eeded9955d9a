// Tests: RedoTests.swift
import GraphLog
import GraphModel

/// A commit in a form from which another store repeats it.
///
/// History describes a commit by the differences from the state before it and does not keep the values of inserted
/// objects, because the present and later changes contain them. An entry has both, so that a store in the state before
/// the commit needs nothing else. All numbers of entities and properties are the store's (`NumberAssignment`), so an
/// entry applies to stores of the same model version only. A migration has no entry: it rewrites rows, and the log
/// begins again after it.
///
/// A large batch consists of several entries: its parts, and then its commit. They apply together or not at all.
public enum LogEntry: Equatable, Sendable {
  /// A slice of the batch that the next commit completes.
  case part(Part)
  /// A commit, after its parts if it is a large batch.
  case commit(Commit)

  /// The row of a commit, its fingerprint, and the objects that it inserts.
  public struct Commit: Equatable, Sendable {
    package var row: CommitRow
    /// The fingerprint, which covers the row and all earlier commits.
    public var fingerprint: UInt64
    /// The inserted and revived objects, in the order of their changes.
    var inserted = InsertedObjects()
    /// The shown name of the author, if it is not the id that the row has. No fingerprint covers it.
    var authorName: String?

    /// The revision of the commit.
    public var revision: Revision { row.revision }
  }

  /// The content of a row of `_part`.
  public struct Part: Equatable, Sendable {
    /// The revision of the commit that follows.
    public var revision: Revision
    var time: Timestamp
    /// The number of the part, from 1.
    var number: Int
    var changes: [UInt8]
    var inserted = [ObjectImage]()
    /// The properties of unique keys that stay null until the last part is written.
    var deferredKeys = [PropertyNumber]()
  }

  /// The revision of the commit.
  public var revision: Revision {
    switch self {
    case .part(let part): part.revision
    case .commit(let commit): commit.revision
    }
  }

  /// Whether the entry completes a commit.
  public var isLast: Bool { if case .commit = self { true } else { false } }

  /// The entry as a record of the commit log.
  var record: LogRecord {
    // Enough for the fields with a length; the others and their keys have at most some bytes each.
    var bytes = 160
    switch self {
    case .commit(let commit):
      bytes += commit.row.changes.count + commit.row.outcome.count + commit.row.counters.count
      bytes += commit.row.undo.count + commit.row.author.utf8.count + commit.inserted.form.count
    case .part(let part): bytes += part.changes.count
    }
    var writer = BinaryWriter(capacity: bytes)
    encode(to: &writer)
    return LogRecord(revision: revision, isLast: isLast, body: writer.bytes)
  }
}

/// The objects that a commit inserts.
///
/// The writer encodes each image for its checksum. A new entry has that form too, so that the images are not encoded
/// again for the log.
struct InsertedObjects: Equatable, Sendable {
  var images = [ObjectImage]()
  /// The images as fields of an entry; empty in an entry that was read.
  private(set) var form = [UInt8]()

  /// - Parameter form: the binary form of the image.
  mutating func append(_ image: ObjectImage, form: [UInt8]) {
    images.append(image)
    var writer = BinaryWriter()
    swap(&writer.bytes, &self.form)
    // A key and a length. Most commits insert one object; for more, the array grows by itself.
    if images.count == 1 { writer.bytes.reserveCapacity(form.count + 11) }
    writer.field(3, form, always: true)
    swap(&writer.bytes, &self.form)
  }

  /// The form follows from the images.
  static func == (left: Self, right: Self) -> Bool { left.images == right.images }
}

// MARK: - Binary form

extension LogEntry: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    switch self {
    case .commit(let commit): writer.field(1, commit)
    case .part(let part): writer.field(2, part)
    }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var entry: LogEntry?
    while let (number, field) = try reader.next() {
      switch number {
      case 1: entry = .commit(try field.form())
      case 2: entry = .part(try field.form())
      default: break
      }
    }
    guard let entry else { throw MalformedMessage("an entry has neither a commit nor a part") }
    self = entry
  }
}

extension LogEntry.Commit: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, row)
    writer.fixed(2, fingerprint)
    if inserted.form.isEmpty {
      for image in inserted.images { writer.field(3, image) }
    } else {
      writer.bytes += inserted.form
    }
    if let authorName { writer.field(4, authorName) }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var (row, fingerprint, inserted) = (CommitRow?.none, UInt64(0), InsertedObjects())
    var authorName: String?
    while let (number, field) = try reader.next() {
      switch number {
      case 1: row = try field.form()
      case 2: fingerprint = try field.fixed64()
      case 3: inserted.images.append(try field.form())
      case 4: authorName = try field.string()
      default: break
      }
    }
    guard let row else { throw MalformedMessage("a logged commit lacks its row") }
    self.init(row: row, fingerprint: fingerprint, inserted: inserted, authorName: authorName)
  }
}

extension LogEntry.Part: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, revision)
    writer.field(2, UInt64(number))
    writer.field(3, changes)
    for image in inserted { writer.field(4, image) }
    for property in deferredKeys { writer.field(5, UInt64(property)) }
    writer.field(6, time)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(revision: 0, time: 0, number: 0, changes: [])
    while let (number, field) = try reader.next() {
      switch number {
      case 1: revision = try field.integer()
      case 2: self.number = try field.count()
      case 3: changes = try field.array()
      case 4: inserted.append(try field.form())
      case 5: deferredKeys.append(try field.uint32())
      case 6: time = try field.integer()
      default: break
      }
    }
  }
}
