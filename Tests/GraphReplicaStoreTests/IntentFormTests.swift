import Foundation
import GraphModel
import GraphReplicaStore
import GraphStore
import GraphTesting
import Testing

/// The JSON form of unsent edits: every key, in both directions, and what is refused.
@Suite struct IntentFormTests {
  private let replica = UniqueID(high: 5, low: 6)

  private func intent(_ model: Model) throws -> Intent {
    let note = try #require(model.entity(named: "Note"))
    func property(_ name: String) throws -> PropertyNumber { try #require(note.property(named: name)).number }
    let old = ObjectID(key: UniqueID(high: 77, low: 1 << 63), entity: note.number)
    let earlier = ProvisionalID.make(number: 40, place: 2, entity: note.number)
    let board = ObjectID(
      key: UniqueID(high: 78, low: 9), entity: try #require(model.entity(named: "Board")).number)
    let tag = ObjectID(key: UniqueID(high: 79, low: 9), entity: try #require(model.entity(named: "Tag")).number)
    let splice = TextSplice(offset: 5, length: 1, insertion: "é\n", hasLeftAffinity: true)
    var intent = Intent(
      number: 41, transaction: TransactionID(replica: replica, sequence: 12), model: model, author: "ann@laptop",
      made: 1_700_000_000_123_456, policy: .objectTrump,
      undo: UndoGroup(scope: UniqueID(high: 1, low: 2), group: .max, name: "Edit Note"),
      content: .changes([
        Change(
          .insert, .temporary(1, entity: note.number),
          edits: [
            Edit(try property("text"), .set(.string("Milk"))), Edit(try property("board"), .set(.object(board))),
            Edit(try property("tags"), .members(added: [tag], removed: [])),
          ]),
        Change(
          .update, old, base: 1_203, edits: [Edit(try property("text"), .splice([splice]))],
          onlyIf: Precondition(revision: 1_203, properties: [try property("x")])),
        Change(.update, earlier, edits: [Edit(try property("pinned"), .set(.bool(true)))]),
        Change(.delete, old, base: 1_198),
      ]))
    intent.texts = [old: [try property("text"): "12345 text"]]
    return intent
  }

  @Test func everyPartIsReadAsItWasWritten() throws {
    let model = try Fixtures.stickies()
    let form = IntentForm(model)
    var intent = try intent(model)
    #expect(try form.intent(parsing: form.json(intent).text) == intent)
    intent.state = .left(1_700_000_000_000_000)
    #expect(try form.intent(parsing: form.json(intent).text) == intent)
    let object = try #require(intent.changes[1].id as ObjectID?)
    let property = intent.changes[0].edits[0].property
    var parking = Parking(
      code: "conflict", message: "1 conflict", at: 1_700_000_001_000_000, left: 1_700_000_000_000_000)
    parking.conflicts = [
      Conflict(
        kind: .changed, id: object, property: property, mine: .string("a"), theirs: .string("b"), author: "bob",
        revision: 1_207),
      Conflict(kind: .deleted, id: object, author: "bob", revision: 1_208),
    ]
    parking.violations = [
      Violation(id: .temporary(1, entity: object.entity), property: property, rule: "required", message: "needs a text")
    ]
    intent.state = .parked(parking)
    #expect(try form.intent(parsing: form.json(intent).text) == intent)
    for content: Intent.Content in [.undo(revision: 7, redo: true), .undo(revision: 7, redo: false), .undoEdit(41)] {
      let undo = Intent(
        number: 42, transaction: intent.transaction, model: model, author: "ann", made: 0, content: content)
      #expect(try form.intent(parsing: form.json(undo).text) == undo)
    }
    let later = Intent(
      number: 42, transaction: intent.transaction, model: model, author: "ann", made: 0, content: .undoEdit(42))
    #expect(throws: Refusal.self) { try form.intent(parsing: form.json(later).text) }
  }

  /// The form surrounds the documents of an edit and of its conflict with levels of its own.
  @Test func documentsOfTheMaximumDepthAreReadAsTheyWereWritten() throws {
    let model = try Fixtures.company()
    let person = try #require(model.entity(named: "Person"))
    let extra = try #require(person.property(named: "extra")).number
    let id = ObjectID(key: UniqueID(high: 77, low: 1 << 63), entity: person.number)
    let depth = JSON.maximumDepth
    let document = Value.string(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
    var intent = Intent(
      number: 1, transaction: TransactionID(replica: replica, sequence: 1), model: model, author: "ann", made: 0,
      content: .changes([Change(.update, id, base: 5, edits: [Edit(extra, .set(document))])]))
    var parking = Parking(code: "conflict", message: "1 conflict", at: 1, left: 1)
    parking.conflicts = [
      Conflict(
        kind: .changed, id: id, property: extra, mine: document, theirs: document, author: "bob", revision: 7)
    ]
    intent.state = .parked(parking)
    let form = IntentForm(model)
    #expect(try form.intent(parsing: form.json(intent).text) == intent)
  }

  @Test func newObjectsHaveTemporaryNames() throws {
    let model = try Fixtures.stickies()
    let text = IntentForm(model).json(try intent(model)).text
    #expect(text.contains("\"object\":\"Note/new:41.1\""))
    #expect(text.contains("\"object\":\"Note/new:40.2\""))
    #expect(text.contains("\"base\":1203") && !text.contains("\"base\":0"))
    #expect(text.contains("\"before\":\"12345 text\""))
  }

  @Test func mistakesAreRefusedWithTheirPlace() throws {
    let model = try Fixtures.stickies()
    let form = IntentForm(model)
    let text = form.json(try intent(model)).text
    let mistakes = [
      ("\"format\":1", "\"format\":2", "format 2"), ("\"policy\":\"objectTrump\"", "\"policy\":\"mine\"", "mine"),
      ("\"kind\":\"delete\"", "\"kind\":\"remove\"", "changes[3]"),
      ("Note/new:41.1", "Note/new:41", "changes[0].object"),
      ("\"property\":\"pinned\"", "\"property\":\"pined\"", "pined"),
      ("\"set\":true", "\"set\":\"yes\"", "changes[2].edits[0].set"),
      ("\"state\":\"queued\"", "\"state\":\"sent\"", "sent"), ("\"author\":", "\"autor\":", "autor"),
      ("\"offset\":5", "\"offset\":-5", "splices[0].offset"),
    ]
    for (right, wrong, place) in mistakes {
      #expect(text.contains(right), "\(right)")
      let refusal = #expect(throws: Refusal.self) {
        try form.intent(parsing: text.replacingOccurrences(of: right, with: wrong))
      }
      #expect(refusal?.code == .malformed && refusal?.message.contains(place) == true, "\(refusal?.message ?? "none")")
    }
    #expect(throws: Refusal.self) { try form.intent(parsing: "{") }
  }

  @Test func examplesOfTheGuideAreIntents() throws {
    let page = try #require(String(bytes: try Fixtures.file("docs/guides/offline.md"), encoding: .utf8))
    let blocks = page.components(separatedBy: "```json intent\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n```").first
    }
    #expect(blocks.count == 2)
    // The versions of the model differ in their hashes only.
    let form = IntentForm(try Fixtures.stickies())
    let intents = try blocks.map { try form.intent(parsing: $0) }
    #expect(intents.first?.changes.count == 4)
    #expect(intents.last?.isParked == true)
    for intent in intents { #expect(try form.intent(parsing: form.json(intent).text) == intent) }
  }
}
