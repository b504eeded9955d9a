import GRDB
import GraphModel

/// `stickiesd check`: everything that a store can prove of itself.
///
/// The steps don't wait for each other: each reports what it finds and what it can't read, and the next one goes on
/// with what can be read. The file is opened for reading only, so whatever is found stays as it was found.
public enum StoreCheck {
  /// What is not as it must be. The names are for scripts: they stay.
  public enum Kind: String, Sendable, CaseIterable {
    /// The write-ahead log has lost commits from its middle.
    case log
    /// SQLite's own check failed, or something can't be read or decoded.
    case integrity
    /// The tables and indexes are not those that the model makes.
    case schema
    /// A row refers to a row that is not there.
    case foreignKey = "foreign key"
    /// The store's own id, or a model that it keeps, has changed.
    case store
    /// The store was made with another model than the one given.
    case model
    /// A value is stored in another form than its property's.
    case form
    /// An object is not as its last commit left it.
    case checksum
    /// A value is missing or breaks a rule of the model.
    case rule
    /// Two objects share a key.
    case unique
    /// A relationship has too many objects, or too few.
    case count
    /// A derived attribute is not what its object and its relationships come to.
    case derived
    /// A to-many names an object that is not there.
    case dangling
    /// A to-many and its index differ.
    case edges
    /// The full-text index and the texts differ.
    case words
    /// The commits do not lead to the present.
    case history
    /// A commit is not as it was committed.
    case fingerprint
    /// A deleted object is not remembered as it was deleted.
    case tombstone
    /// A sequence would give a number twice, or has left some out.
    case sequence
  }

  /// Where something was found. Nothing is set for what concerns the whole store.
  public struct Place: Hashable, Sendable, CustomStringConvertible {
    /// The table, by its name in the file.
    public var table: String?
    /// SQLite's number of the row in it.
    public var row: Int64?
    /// The object that the row is or was.
    public var object: ObjectID?

    /// A place in the file.
    public init(table: String? = nil, row: Int64? = nil, object: ObjectID? = nil) {
      self.table = table
      self.row = row
      self.object = object
    }

    public var description: String {
      let row = row.map { object == nil ? "row \($0)" : "(row \($0))" }
      return [table, object?.description, row].compactMap { $0 }.joined(separator: " ")
    }
  }

  /// One thing that is not as it must be.
  public struct Finding: Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with it.
    public let kind: Kind
    /// Where it was found.
    public let place: Place
    /// A sentence that begins behind the place.
    public let text: String

    /// One thing that was found.
    public init(kind: Kind, place: Place = Place(), text: String) {
      self.kind = kind
      self.place = place
      self.text = text
    }

    /// Whether the store is not what commits made of it. An object that breaks a rule is as its commit left it: a version
    /// of the model may ask more of objects than was asked when they were stored.
    public var isDamage: Bool { kind != .rule && kind != .count }

    public var description: String {
      let place = place.description
      return "\(kind.rawValue): \(place)\(place.isEmpty ? "" : " ")\(text)"
    }
  }

  /// No more than this many are listed for one kind; the rest is counted.
  public static let maximumFindings = 100

  /// Objects of the past that are held in memory while history is gone through; the others lie in a temporary file.
  public static let heldObjects = 50_000

  /// Verifies the store in `directory`, which no daemon may be using. No object, no commit and no log is changed.
  /// - Parameter heldObjects: objects of the past that are held in memory, from 1.
  /// - Returns: what was found, the kinds in the order of `Kind`; at most `maximumFindings` of each and a last one that
  ///   counts the others. Empty for a sound store.
  /// - Throws: `StoreFailure` when there is no store, or none that this program may open; `full` or `inputOutput` when the
  ///   temporary file can't be written that holds what memory does not, which says nothing of the store.
  public static func run(
    directory: String, model: Model, heldObjects: Int = StoreCheck.heldObjects
  ) throws -> [Finding] {
    let path = directory + "/" + StoreFiles.name
    if ReadOnlyMedium.holds(path) { return try run(onReadOnlyMedium: path, directory, model, heldObjects) }
    func isThere() throws -> Bool { try StoreFiles.kind(of: path) != .absent }
    guard try isThere() || StoreRestore.isUnfinished(in: directory) else {
      throw StoreFailure(.notAStore, "there is no store in \(directory)", advice: "Give --data the daemon's directory.")
    }
    let lock = try StoreLock(directory: directory)
    defer { withExtendedLifetime(lock) {} }
    if try StoreRestore.finish(in: directory) { _ = try isThere() }
    return try run(file: path, model: model, heldObjects: heldObjects)
  }

  /// Without a lock, which can't be taken there and which no daemon can have.
  private static func run(
    onReadOnlyMedium path: String, _ directory: String, _ model: Model, _ heldObjects: Int
  ) throws -> [Finding] {
    guard !StoreRestore.isUnfinished(in: directory) else {
      throw ReadOnlyMedium.refusal(path, cause: "a restore has to be finished first")
    }
    guard try StoreFiles.kind(of: path, isOnlyRead: true) != .absent else {
      throw StoreFailure(.notAStore, "there is no store in \(directory)", advice: "Give --data the daemon's directory.")
    }
    return try run(file: path, model: model, heldObjects: heldObjects)
  }

  /// Verifies a store wherever its file lies, while nobody writes it.
  static func run(
    file path: String, model: Model, heldObjects: Int = StoreCheck.heldObjects, temporaryPages: Int? = nil
  ) throws -> [Finding] {
    var findings = FindingList()
    if let loss = try WriteAheadLogFile.loss(beside: path) {
      findings.add(.log, text: "commits are missing from the middle: \(WriteAheadLogFile.sentence(loss))")
    }
    do {
      var configuration = Configuration()
      configuration.foreignKeysEnabled = false
      configuration.readonly = true
      let queue = try DatabaseQueue(path: ReadOnlyMedium.name(forReading: path), configuration: configuration)
      findings = try queue.inDatabase { database in
        var checker = StoreChecker(
          database, model: model, findings: findings, heldObjects: heldObjects, temporaryPages: temporaryPages)
        checker.run()
        if let failure = checker.failure { throw failure }
        return checker.findings
      }
      try queue.close()
      if !findings.all.contains(where: \.isDamage), !ReadOnlyMedium.holds(path) {
        findings.add(try checkWordTables(path, model: model))
      }
    } catch let error as DatabaseError {
      // A log that finds no room for its index is not damaged.
      let failure = SQLiteStore.failure(
        code: error.extendedResultCode.rawValue, message: error.message ?? "", path: path)
      if let failure = failure as? StoreFailure, failure.code == .full { throw failure }
      findings.add(.integrity, text: "the file can't be read: \(error.message ?? "no reason is given")")
    }
    return findings.all
  }

  /// The full-text indexes' own check, which SQLite gives only to those who may write. It writes nothing; when the
  /// file is closed the log, sound as all the rest, is copied into the database.
  private static func checkWordTables(_ path: String, model: Model) throws -> FindingList {
    var findings = FindingList()
    try DatabaseQueue(path: path).inDatabase { database in
      for words in try StoreVersions.layout(database, model: model).orderedTables.flatMap(\.wordTables) {
        do {
          let name = quoted(words.name)
          try database.execute(sql: "INSERT INTO \(name) (\(name)) VALUES ('integrity-check')")
        } catch {
          findings.add(.words, Place(table: words.name), text: "is damaged")
        }
      }
    }
    return findings
  }
}

/// Findings, bounded for each kind.
struct FindingList {
  private var listed = [StoreCheck.Kind: [StoreCheck.Finding]]()
  private var counts = [StoreCheck.Kind: Int]()

  var isEmpty: Bool { counts.isEmpty }

  func count(of kind: StoreCheck.Kind) -> Int { counts[kind] ?? 0 }

  mutating func add(_ kind: StoreCheck.Kind, _ place: StoreCheck.Place = .init(), text: String) {
    counts[kind, default: 0] += 1
    guard counts[kind, default: 0] <= StoreCheck.maximumFindings else { return }
    listed[kind, default: []].append(.init(kind: kind, place: place, text: text))
  }

  mutating func add(_ more: FindingList) {
    for (kind, count) in more.counts {
      counts[kind, default: 0] += count
      listed[kind] = Array(((listed[kind] ?? []) + (more.listed[kind] ?? [])).prefix(StoreCheck.maximumFindings))
    }
  }

  var all: [StoreCheck.Finding] {
    StoreCheck.Kind.allCases.flatMap { kind in
      let rest = count(of: kind) - StoreCheck.maximumFindings
      return (listed[kind] ?? []) + (rest > 0 ? [.init(kind: kind, text: "and \(rest) more")] : [])
    }
  }
}
