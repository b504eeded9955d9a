// Tests: CheckTests.swift, BitFlipTests.swift
import GRDB
import GraphModel

/// `stickiesd check`: verifies everything that a store's data can prove about itself.
///
/// The steps are independent: each reports its findings and what it can't read, and the next one continues with the
/// rest. The file is opened read-only, so damage stays as it was found.
public enum StoreCheck {
  /// The kind of a finding. Scripts use the names, so they must not change.
  public enum Kind: String, Sendable, CaseIterable {
    /// The write-ahead log has lost commits from its middle.
    case log
    /// SQLite's own check failed, or something can't be read or decoded.
    case integrity
    /// The tables and indexes differ from those that the model creates.
    case schema
    /// A row refers to a row that does not exist.
    case foreignKey = "foreign key"
    /// The store's own id, or a model that it keeps, has changed.
    case store
    /// The store was made with another model than the one given.
    case model
    /// A value is stored in another form than its property's stored form.
    case form
    /// An object differs from the one that its last commit wrote.
    case checksum
    /// A value is missing or breaks a rule of the model.
    case rule
    /// Two objects share a key.
    case unique
    /// A relationship has too many objects, or too few.
    case count
    /// A derived attribute differs from its recomputed value.
    case derived
    /// A to-many refers to an object that does not exist.
    case dangling
    /// A to-many and its index differ.
    case edges
    /// The full-text index and the texts differ.
    case words
    /// The commits do not lead to the present graph.
    case history
    /// A commit has changed since it was committed.
    case fingerprint
    /// A tombstone is missing, or differs from the delete.
    case tombstone
    /// A sequence would repeat a number, or has skipped some.
    case sequence
  }

  /// The location of a finding. All fields are nil for a finding about the whole store.
  public struct Place: Hashable, Sendable, CustomStringConvertible {
    /// The table's name in the file.
    public var table: String?
    /// The rowid in the table.
    public var row: Int64?
    /// The object that the row contains or contained.
    public var object: ObjectID?

    /// Creates a place.
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

  /// One deviation from a sound store.
  public struct Finding: Hashable, Sendable, CustomStringConvertible {
    /// The kind of the deviation.
    public let kind: Kind
    /// The location of the deviation.
    public let place: Place
    /// The rest of a sentence that begins with the place.
    public let text: String

    /// Creates a finding.
    public init(kind: Kind, place: Place = Place(), text: String) {
      self.kind = kind
      self.place = place
      self.text = text
    }

    /// Whether the store differs from what the commits wrote. An object that breaks a rule is not damaged: a newer
    /// model version may be stricter than the one it was stored under.
    public var isDamage: Bool { kind != .rule && kind != .count }

    public var description: String {
      let place = place.description
      return "\(kind.rawValue): \(place)\(place.isEmpty ? "" : " ")\(text)"
    }
  }

  /// The maximum number of findings listed for each kind; the others are counted.
  public static let maximumFindings = 100

  /// The number of past objects in memory while history is read; the others are in a temporary file.
  public static let heldObjects = 50_000

  /// Verifies the store in `directory`, which no daemon may be using. Changes no object, commit or log.
  /// - Parameter heldObjects: the number of past objects held in memory, at least 1.
  /// - Returns: the findings, with the kinds in the order of `Kind`: at most `maximumFindings` of each, and a last
  ///   one that counts the others. Empty for a sound store.
  /// - Throws: `StoreFailure` if there is no store, or none that this program may open; `full` or `inputOutput` if
  ///   the temporary file can't be written, which is no finding about the store.
  public static func run(
    directory: String, model: Model, heldObjects: Int = StoreCheck.heldObjects
  ) throws -> [Finding] {
    let path = directory + "/" + StoreFiles.name
    if ReadOnlyMedium.holds(path) { return try run(onReadOnlyMedium: path, directory, model, heldObjects) }
    func storeExists() throws -> Bool { try StoreFiles.kind(of: path) != .absent }
    guard try storeExists() || StoreRestore.isUnfinished(in: directory) else {
      throw StoreFailure(.notAStore, "there is no store in \(directory)", advice: "Give --data the daemon's directory.")
    }
    let lock = try StoreLock(directory: directory)
    defer { withExtendedLifetime(lock) {} }
    if try StoreRestore.finish(in: directory) { _ = try storeExists() }
    return try run(file: path, model: model, heldObjects: heldObjects)
  }

  /// Checks a store on a read-only file system, without a lock. None can be taken there, and no daemon can have one.
  private static func run(
    onReadOnlyMedium path: String, _ directory: String, _ model: Model, _ heldObjects: Int
  ) throws -> [Finding] {
    guard !StoreRestore.isUnfinished(in: directory) else {
      throw ReadOnlyMedium.refusal(path, cause: "a restore must be finished first")
    }
    guard try StoreFiles.kind(of: path, isOnlyRead: true) != .absent else {
      throw StoreFailure(.notAStore, "there is no store in \(directory)", advice: "Give --data the daemon's directory.")
    }
    return try run(file: path, model: model, heldObjects: heldObjects)
  }

  /// Verifies a store at any path; no program may be writing it.
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
      // A WAL without space for its index is not damaged.
      let failure = SQLiteStore.failure(
        code: error.extendedResultCode.rawValue, message: error.text, path: path)
      if let failure = failure as? StoreFailure, failure.code == .full { throw failure }
      findings.add(.integrity, text: "the file can't be read: \(error.reason)")
    }
    return findings.all
  }

  /// Runs the full-text indexes' own check, for which SQLite requires a writable connection. It writes nothing; but
  /// closing the file checkpoints the WAL, which is as sound as the rest.
  private static func checkWordTables(_ path: String, model: Model) throws -> FindingList {
    var findings = FindingList()
    try DatabaseQueue(path: path).inDatabase { database in
      for words in try StoreVersions.layout(database, model: model).orderedTables.flatMap(\.fullTextTables) {
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

/// Findings, limited for each kind.
struct FindingList {
  private var listed = [StoreCheck.Kind: [StoreCheck.Finding]]()
  private var counts = [StoreCheck.Kind: Int]()

  var isEmpty: Bool { counts.isEmpty }

  func count(of kind: StoreCheck.Kind) -> Int { counts[kind, default: 0] }

  mutating func add(_ kind: StoreCheck.Kind, _ place: StoreCheck.Place = .init(), text: String) {
    counts[kind, default: 0] += 1
    guard counts[kind, default: 0] <= StoreCheck.maximumFindings else { return }
    listed[kind, default: []].append(.init(kind: kind, place: place, text: text))
  }

  mutating func add(_ more: FindingList) {
    for (kind, count) in more.counts {
      counts[kind, default: 0] += count
      let all = listed[kind, default: []] + more.listed[kind, default: []]
      listed[kind] = Array(all.prefix(StoreCheck.maximumFindings))
    }
  }

  var all: [StoreCheck.Finding] {
    StoreCheck.Kind.allCases.flatMap { kind in
      let rest = count(of: kind) - StoreCheck.maximumFindings
      assert(listed[kind, default: []].count == min(count(of: kind), StoreCheck.maximumFindings))
      return listed[kind, default: []] + (rest > 0 ? [.init(kind: kind, text: "and \(rest) more")] : [])
    }
  }
}
