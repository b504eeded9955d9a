// Tests: CheckTests.swift, BitFlipTests.swift
import GRDB
import GraphModel
import GraphStore

/// One check of a store over one connection: the steps in order.
struct StoreChecker {
  private let store: CheckedStore
  /// The reason why the store's model versions can't be read; nil if they were read.
  private let versionsFailure: (any Error)?
  /// The number of past objects in memory.
  private let heldObjects: Int
  /// The page limit of the temporary file; nil for none.
  private let temporaryPages: Int?

  init(_ database: Database, model: Model, findings: FindingList, heldObjects: Int, temporaryPages: Int?) {
    (self.heldObjects, self.temporaryPages) = (heldObjects, temporaryPages)
    let layout: StoreLayout
    do {
      (layout, versionsFailure) = (try StoreVersions.layout(database, model: model), nil)
    } catch {
      (layout, versionsFailure) = (StoreLayout(model: model), error)
    }
    store = CheckedStore(Connection(database), layout: layout, findings: findings)
  }

  /// Whether the numbers in rows and commits are known: not under another model, nor without the store's versions.
  private var isInterpretable: Bool { store.findings.count(of: .model) == 0 && versionsFailure == nil }

  /// - Throws: `TemporaryFileFailure`; anything else is a finding.
  func run() throws {
    let schema = SchemaChecker(store)
    try store.attempt("the database") { try schema.checkDatabase() }
    try store.attempt("the references") { try schema.checkForeignKeys() }
    try store.attempt("the schema") { try schema.checkSchema() }
    try store.attempt("the store's own rows") { try schema.checkOwnRows() }
    // With another model the versions can't be read either, and the step before has reported the cause.
    if let versionsFailure, store.findings.count(of: .model) == 0 {
      try store.attempt("the versions of the model") { throw versionsFailure }
    }
    let chain = CommitChainChecker(store)
    try store.attempt("the floor of history") { try chain.checkFloor() }
    try store.attempt("the chain of commits") { try chain.checkChain(readsOutcomes: isInterpretable) }
    if versionsFailure == nil {
      try store.attempt("the parts of commits") { try CommitPartChecker(store).check() }
      try store.attempt("the complete objects of history") { try KeyframeChecker(store).check() }
    }
    try store.attempt("the values lost in conflicts") { try chain.checkOverwrittenValues() }
    if !isInterpretable { return }
    var fullText = FullTextChecker(store)
    try store.attempt("the newest commits") { try fullText.checkWatermark() }
    let objects = ObjectChecker(store)
    for table in store.layout.orderedTables {
      try store.attempt("the table \(table.name)") { try check(table, objects, fullText) }
      try store.attempt("the keys of \(table.name)") { try objects.checkKeys(of: table) }
      try store.attempt("the one-to-ones of \(table.name)") { try objects.checkPairs(of: table) }
    }
    let history = HistoryChecker(store, heldObjects: heldObjects, temporaryPages: temporaryPages)
    try store.attempt("the history") { try history.check() }
  }

  /// Checks the commit log of a store that needs it.
  /// - Returns: the number of commits that are in the log only.
  func checkLog(in folder: String) throws -> Int {
    var checker = CommitLogChecker(store, folder: folder)
    try store.attempt("the commit log") { try checker.check() }
    return checker.unappliedCommits
  }

  private func check(_ table: EntityTable, _ objects: ObjectChecker, _ fullText: FullTextChecker) throws {
    // The next start rebuilds an index from another version of the word splitter.
    guard try !FullTextRebuild.isDue(store.database) else { return try objects.checkObjects(of: table) }
    var words = TermChecksums()
    try objects.checkObjects(of: table) { image, row in fullText.add(image, row: row, of: table, to: &words) }
    for index in table.fullTextTables {
      try store.attempt("the full-text index \(index.name)") { try fullText.check(index, in: table, words) }
    }
  }
}
