import Foundation
import GraphModel
import GraphTesting
import GraphWire
import StickiesKit
import Testing

/// Requests that can be read but not executed: each is refused with a reason, leaves no trace, and the
/// connection continues. An unreadable one ends the connection.
@Suite struct InvalidValueTests {
  // MARK: - Types

  @Test func everyAttributeRefusesEveryValueOfAnotherKind() async throws {
    let schema = try SampleValues.schema()
    let model = try Model(parsing: SampleValues.source.utf8)
    let scene = try await DaemonFixture(model, following: "Specimen", schema: schema.path)
    let guest = try await scene.client()
    let shelf = try #require(try await guest.commit([scene.insertion([], of: "Shelf")]).identities.first)
    let label = try #require(try await guest.commit([scene.insertion([], of: "Label")]).identities.first)
    var pairs = 0
    for (attribute, kinds) in SampleValues.takes {
      let property = try scene.property(attribute)
      for (kind, value) in try SampleValues.values(shelf: shelf, label: label) where !kinds.contains(kind) {
        let refusal = try await guest.commit([scene.insertion([(attribute, value)])]).refusal
        #expect(refusal?.code == .invalid, "\(kind) for \(attribute)")
        #expect(refusal?.violations.map(\.rule) == ["type"], "\(kind) for \(attribute)")
        #expect(refusal?.violations.map(\.property) == [property.number])
        #expect(refusal?.violations.first?.value == value)
        #expect(refusal?.message.contains("Specimen.\(attribute) needs a value of the type") == true)
        pairs += 1
      }
    }
    #expect(pairs == 107)
    for (attribute, value) in SampleValues.misshapen {
      let refusal = try await guest.commit([scene.insertion([(attribute, value)])]).refusal
      #expect(refusal?.code == .invalid, "\(value) for \(attribute)")
      #expect(refusal?.violations.map(\.rule) == ["type"], "\(value) for \(attribute)")
    }
    try await scene.expectUndisturbed()
    #expect(scene.held.isEmpty)
    try scene.end()
  }

  @Test func relationshipsAcceptOnlyIDsOfTheirDestination() async throws {
    let schema = try SampleValues.schema()
    let model = try Model(parsing: SampleValues.source.utf8)
    let scene = try await DaemonFixture(model, following: "Specimen", schema: schema.path)
    let guest = try await scene.client()
    let shelf = try #require(try await guest.commit([scene.insertion([], of: "Shelf")]).identities.first)
    let label = try #require(try await guest.commit([scene.insertion([], of: "Label")]).identities.first)
    for (kind, value) in try SampleValues.values(shelf: shelf, label: label) {
      if kind != "object" {
        let refusal = try await guest.commit([scene.insertion([("shelf", value)])]).refusal
        #expect(refusal?.code == .invalid, "\(kind) for a to-one")
        #expect(refusal?.violations.map(\.rule) == ["type"], "\(kind) for a to-one")
      }
      if kind != "objects" {
        let refusal = try await guest.commit([scene.insertion([("labels", value)])]).refusal
        #expect(refusal?.code == .malformed, "\(kind) for a to-many")
        #expect(refusal?.message == "Specimen.labels can't be edited in this way")
      }
    }
    let stranger = ObjectID(key: UniqueID(high: 5, low: 5), entity: shelf.entity)
    for (name, value) in [
      ("shelf", Value.object(label)), ("shelf", .object(stranger)), ("labels", .objects([shelf])),
      ("labels", .objects([stranger])),
    ] {
      let refusal = try await guest.commit([scene.insertion([(name, value)])]).refusal
      #expect(refusal?.code == .invalid, "\(value) for \(name)")
      #expect(refusal?.violations.map(\.rule) == ["destination"], "\(value) for \(name)")
    }
    try await scene.expectUndisturbed()
    #expect(scene.held.isEmpty)
    try scene.end()
  }

  @Test func editsOfWrongFormAreRefused() async throws {
    let schema = try SampleValues.schema()
    let scene = try await DaemonFixture(
      try Model(parsing: SampleValues.source.utf8), following: "Specimen", schema: schema.path)
    let guest = try await scene.client()
    let specimen = try #require(
      try await guest.commit([scene.insertion([("story", .string("abc"))])]).identities.first)
    let splice = Edit.Action.splice([TextSplice(offset: 0, length: 0, insertion: "x")])
    let cases: [(String, Edit.Action, String)] = [
      ("name", splice, "Specimen.name is not text: it can't be spliced"),
      ("count", splice, "Specimen.count is not text: it can't be spliced"),
      ("name", .members(added: [specimen], removed: []), "Specimen.name can't be edited in this way"),
      ("shelf", .members(added: [specimen], removed: []), "Specimen.shelf can't be edited in this way"),
      ("labels", splice, "Specimen.labels can't be edited in this way"),
      (
        "story", .splice([TextSplice(offset: 3, length: 1, insertion: "")]),
        "a splice of Specimen.story does not fit the text"
      ),
      (
        "story",
        .splice([TextSplice(offset: TextSplice.maximumOffset, length: TextSplice.maximumOffset, insertion: "")]),
        "a splice of Specimen.story does not fit the text"
      ),
    ]
    for (name, action, message) in cases {
      let edit = Edit(try scene.property(name).number, action)
      let refusal = try await guest.commit([Change(.update, specimen, base: .max, edits: [edit])]).refusal
      #expect(refusal?.code == .malformed, "\(name)")
      #expect(refusal?.message == message)
    }
    try await scene.expectUndisturbed()
    try scene.end()
  }

  @Test func valuesOfEveryTypeRoundTrip() async throws {
    let schema = try SampleValues.schema()
    let scene = try await DaemonFixture(
      try Model(parsing: SampleValues.source.utf8), following: "Specimen", schema: schema.path)
    let guest = try await scene.client()
    let shelf = try #require(try await guest.commit([scene.insertion([], of: "Shelf")]).identities.first)
    let label = try #require(try await guest.commit([scene.insertion([], of: "Label")]).identities.first)
    let whole = try SampleValues.whole(shelf: shelf, label: label)
    #expect(try await guest.commit([scene.insertion(whole)]).revision == 3)
    let stored = try #require(try await guest.fetch(Fetch(entity: scene.entity.number)).objects.first)
    for (name, value) in whole { #expect(stored[try scene.property(name)] == value, "\(name)") }
    try await scene.expectUndisturbed()
    try scene.end()
  }

  // MARK: - Missing objects

  @Test func unknownEntitiesPropertiesAndIdsAreRefusedByName() async throws {
    let scene = try await DaemonFixture()
    let guest = try await scene.client()
    let board = try await scene.board()
    let nowhere = "there is no entity number 99 in the model Stickies"
    #expect(try await guest.refusal(of: guest.send(.fetch(Fetch(entity: 99))))?.message == nowhere)
    #expect(try await guest.refusal(of: guest.send(.subscribe(Subscribe(entity: 99))))?.message == nowhere)
    let missing = ObjectID(key: UniqueID(high: 5, low: 5), entity: scene.entity.number)
    let other = ObjectID(key: UniqueID(high: 5, low: 6), entity: scene.entity.number)
    let name = try scene.property("name", of: "Board").number
    let text = try scene.property("text").number
    func note(_ edit: Edit) throws -> [Change] {
      let change = try scene.insertion([("board", .object(board))])
      return [Change(.insert, change.id, edits: change.edits + [edit])]
    }
    let cases: [([Change], Refusal.Code, String)] = [
      ([Change(.insert, .temporary(1, entity: 99))], .malformed, nowhere),
      (try note(Edit(9_999, .set(.null))), .malformed, "Note has no property number 9999"),
      (try note(Edit(name, .set(.null))), .malformed, "Note has no property name"),
      ([Change(.update, missing, base: 1)], .notFound, "there is no Note with the id \(missing)"),
      ([Change(.delete, missing, base: 1)], .notFound, "there is no Note with the id \(missing)"),
      (
        [Change(.update, missing, base: 1), Change(.delete, other, base: 1)], .notFound,
        "there is no Note with the id \(missing) (and 1 more)"
      ),
      (
        [Change(.update, .temporary(7, entity: scene.entity.number), edits: [Edit(text, .set(.string("x")))])],
        .malformed, "an update names a temporary id that this transaction does not insert"
      ),
      (
        [Change(.delete, .temporary(7, entity: scene.entity.number))], .malformed,
        "a delete names a temporary id that this transaction does not insert"
      ),
      (
        try note(Edit(try scene.property("board").number, .set(.object(.temporary(8, entity: board.entity))))),
        .malformed, "board names a temporary id that this transaction does not insert"
      ),
      ([Change(.insert, missing)], .malformed, "an insert needs a temporary id of its own"),
      ([Change(.revive, missing)], .notAllowed, "only the server can revive objects"),
    ]
    for (changes, code, message) in cases {
      let refusal = try await guest.commit(changes).refusal
      #expect(refusal?.code == code, "\(message)")
      #expect(refusal?.message == message)
      try await scene.expectUndisturbed()
    }
    let foreign = Transaction(id: TransactionID(replica: UniqueID(high: 9, low: 9), sequence: 1), changes: [])
    let refusal = try await guest.refusal(of: guest.send(.commit(foreign)))
    #expect(refusal?.code == .notAllowed)
    #expect(refusal?.message == "the transaction's replica is not the replica of hello")
    let undo = TransactionID(replica: guest.replica, sequence: 1_000)
    #expect(try await guest.refusal(of: guest.send(.undo(UndoRequest(undo, revision: 4_711))))?.code == .notFound)
    try await scene.expectUndisturbed()
    #expect(scene.held.isEmpty)
    try scene.end()
  }

  @Test func predicateSyntaxErrorReportsItsColumn() async throws {
    let scene = try await DaemonFixture()
    let guest = try await scene.client()
    let cases = [
      ("colr == \"red\"", 1), ("color == \"yellow\" AND AND x > 3", 23), ("x == nan", 6), ("x == 1e999", 6),
      ("(x > 1", 7), ("color == \"mauve\"", 10), ("text ==[q] \"a\"", 8), ("x > \"1\"", 5),
      ("🎈 == 1", 1),
    ]
    for (text, column) in cases {
      for body in [
        ToServer.Body.fetch(Fetch(entity: scene.entity.number, predicate: text)),
        .subscribe(Subscribe(entity: scene.entity.number, predicate: text)),
      ] {
        let refusal = try await guest.refusal(of: guest.send(body))
        #expect(refusal?.code == .malformed, "\(text)")
        #expect(
          refusal?.message.hasPrefix("the predicate can't be read at column \(column): ") == true,
          "\(text): \(refusal?.message ?? "accepted")")
      }
    }
    let order = try await guest.refusal(of: guest.send(.fetch(Fetch(entity: scene.entity.number, sort: "nope"))))
    #expect(order?.code == .malformed)
    try await scene.expectUndisturbed()
    try scene.end()
  }

  /// Columns are characters as a person sees them, not their code points.
  @Test func emojiFamilyIsOneColumnWide() async throws {
    let scene = try await DaemonFixture()
    let guest = try await scene.client()
    let fetch = Fetch(entity: scene.entity.number, predicate: "text == \"🎈👨‍👩‍👧\" AND nope == 1")
    let refusal = try await guest.refusal(of: guest.send(.fetch(fetch)))
    #expect(
      refusal?.message.hasPrefix("the predicate can't be read at column 18: ") == true, "\(refusal?.message ?? "")")
    try scene.end()
  }

  // MARK: - Unreadable texts

  @Test func invalidUTF8AndInvalidNumbersCloseTheConnection() async throws {
    let schema = try SampleValues.schema()
    let scene = try await DaemonFixture(
      try Model(parsing: SampleValues.source.utf8), following: "Specimen", schema: schema.path)
    let marker = "????"
    let specimen = scene.entity.number
    let twelve = try #require(DecimalValue("12.5"))
    func commit(_ values: [(String, Value)], _ replica: UniqueID) throws -> ToServer.Body {
      .commit(
        Transaction(id: TransactionID(replica: replica, sequence: 1), changes: [try scene.insertion(values)]))
    }
    let text = "a string is not UTF-8"
    let overlong: [UInt8] = [0xC0, 0x80, 0x41, 0x41]
    let surrogate: [UInt8] = [0xED, 0xA0, 0x80, 0x41]
    let cut: [UInt8] = [0x41, 0x41, 0x41, 0xF0]
    let cases: [(String, (UniqueID) throws -> ToServer.Body, from: [UInt8], to: [UInt8], reason: String)] = [
      ("a text", { try commit([("story", .string(marker))], $0) }, Array(marker.utf8), overlong, text),
      ("a name", { try commit([("name", .string(marker))], $0) }, Array(marker.utf8), surrogate, text),
      ("a predicate", { _ in .fetch(Fetch(entity: specimen, predicate: marker)) }, Array(marker.utf8), cut, text),
      ("an order", { _ in .fetch(Fetch(entity: specimen, sort: marker)) }, Array(marker.utf8), cut, text),
      (
        "a live query", { _ in .subscribe(Subscribe(entity: specimen, predicate: marker)) }, Array(marker.utf8), cut,
        text
      ),
      (
        "a decimal", { try commit([("price", .decimal(twelve))], $0) }, twelve.orderedBytes,
        [0x02, 0x40, 0x02, 0x02, 0x03, 0x0C, 0x00], "a decimal is not in its ordered form"
      ),
    ]
    for address in try scene.addresses() {
      for (name, body, from, to, reason) in cases {
        let guest = try await scene.client(address)
        let frame = Frame.encode(ToServer(2, try body(guest.replica)))
        let damaged = try #require(Self.replacing(from, by: to, in: frame), "\(name) is not in its frame")
        try await guest.send(bytes: damaged)
        #expect(try await guest.goodbye() == RawClient.CloseMessage(code: "malformed", message: reason), "\(name)")
        try await scene.expectUndisturbed()
      }
    }
    #expect(scene.held.isEmpty)
    try scene.end()
  }

  private static func replacing(_ old: [UInt8], by new: [UInt8], in frame: [UInt8]) -> [UInt8]? {
    precondition(old.count == new.count)
    guard let place = frame.indices.first(where: { frame[$0...].starts(with: old) }) else { return nil }
    return Array(frame[..<place]) + new + frame[(place + old.count)...]
  }

  // MARK: - Hard texts

  @Test func anyTextRoundTripsByteForByte() async throws {
    let scene = try await DaemonFixture()
    let board = try await scene.board()
    let property = try scene.property("text")
    let texts = [
      "\u{0}", "a\u{0}b", "👩‍👩‍👧‍👦🏳️‍🌈🎈", "שלום עולם و سلام", "\u{202E}reversed\u{202C}", "e\u{301} and \u{E9}", "\r\n\r\n",
      "\u{FEFF}x",
      String(repeating: "x", count: 1 << 20), String(repeating: "🎈", count: 1 << 18),
    ]
    for address in try scene.addresses() {
      let guest = try await scene.client(address)
      for text in texts {
        let change = try scene.insertion([("text", .string(text)), ("board", .object(board))])
        let id = try #require(try await guest.commit([change]).identities.first, "\(text.prefix(20)) is refused")
        let stored = try await guest.fetch(Fetch(entity: scene.entity.number, predicate: "id == \"\(id)\"")).objects
        // `Value` compares bytes.
        #expect(stored.map { $0[property] } == [.string(text)])
      }
      try await scene.expectUndisturbed()
    }
    let shown = try scene.daemon.run("list", "--json", "--sort", "number").json()
    let printed = shown.arrayValue?.compactMap { $0["text"]?.stringValue.map { Value.string($0) } }
    #expect(printed == (texts + texts).map { Value.string($0) })
    try scene.end()
  }

  @Test func commandLineRefusesInvalidNumbers() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "x")
    for place in ["nan,0", "0,inf", "-inf,0", "1e999,0", "0x10,0x20", "-0x10,0", "0x1p4,0"] {
      #expect(try daemon.run("move", "1", place).status == 64, "\(place)")
    }
    #expect(try daemon.run("resize", "1", "nanxinf").status == 64)
    let note = try daemon.run("show", "1", "--json").json()
    let id = try #require(note["id"]?.stringValue)
    for number in ["0x10", "nan"] {
      let refused = try daemon.run("graph", "update", id, "x=\(number)")
      #expect(refused.status != 0 && refused.errors.contains(number), "\(refused.errors)")
    }
    #expect(try daemon.run("show", "1", "--json").json() == note)
    #expect(note["x"] == .integer(0) && note["y"] == .integer(0) && note["revision"] == .integer(1))
  }

  /// The program names the limit; the daemon refuses a client that sends it anyway.
  @Test func deeplyNestedParenthesesAreRefusedWithoutCrash() async throws {
    let scene = try await DaemonFixture()
    let brackets = (open: String(repeating: "(", count: 10_000), close: String(repeating: ")", count: 10_000))
    let deep = brackets.open + "x > 1" + brackets.close
    let words = "the predicate can't be read at column 102: nested deeper than 200"
    for command in [["list"], ["graph", "fetch", "Note"], ["graph", "delete", "Note"]] {
      func run(_ text: String, _ more: [String] = []) throws -> Daemon.Result {
        try Daemon.run(
          command + ["--where", text] + more, server: scene.daemon.socket.description, author: "ann@test", input: nil)
      }
      let refused = try run(deep)
      #expect(refused.status == 64, "\(command)")
      // The caret is under the first bracket beyond the limit.
      let line = "…" + String(repeating: "(", count: 60) + "…"
      #expect(
        refused.errors == "stickies: \(words)\n\(line)\n" + String(repeating: " ", count: 31) + "^\n",
        "\(command): \(refused.errors)")
      let json = try run(deep, ["--json"])
      #expect(json.status == 64)
      #expect(try json.refusal()["code"] == .string("malformed"))
      let calculated = try run(brackets.open + "x" + brackets.close + " > 1")
      #expect(calculated.status == 64)
      #expect(
        calculated.errors.hasPrefix("stickies: the predicate can't be read at column 202: nested deeper than 200\n"))
    }
    // The maximum depth, in two forms.
    let legal = String(repeating: "(", count: 100) + "x > 1" + String(repeating: ")", count: 100)
    #expect(try scene.daemon.run("list", "--where", legal).status == 0)
    let negations = String(repeating: "x > 1 AND NOT (", count: 66) + "x > 1" + String(repeating: ")", count: 66)
    #expect(try scene.daemon.run("graph", "fetch", "Note", "--where", negations, "--json").status == 0)
    let guest = try await scene.client()
    for body in [
      ToServer.Body.fetch(Fetch(entity: scene.entity.number, predicate: deep)),
      .subscribe(Subscribe(entity: scene.entity.number, predicate: deep)),
    ] {
      let refusal = try await guest.refusal(of: guest.send(body))
      #expect(refusal?.code == .malformed)
      #expect(refusal?.message.hasPrefix(words) == true, "\(refusal?.message ?? "accepted")")
    }
    try await scene.expectUndisturbed()
    try scene.end()
  }

  @Test func failedImportWritesNothing() throws {
    let (one, two) = (try Daemon(), try Daemon())
    try one.start()
    try two.start()
    for number in 1...20 { try one.run("add", "note \(number)\nwith two lines") }
    let whole = Array(try one.run("export").output.utf8)
    let file = two.home.path + "/graph.jsonl"
    // The line ends in its middle, as after a full disk or an incomplete copy.
    let end = try #require(whole[(whole.count / 2)...].firstIndex(of: UInt8(ascii: "\n")))
    try Data(whole[..<(end - 10)]).write(to: URL(fileURLWithPath: file))
    let broken = try two.run("import", file, "--json")
    #expect(broken.status == 0)
    #expect(try broken.json()["imported"] == .integer(0))
    let line = whole[..<(end - 10)].count { $0 == UInt8(ascii: "\n") } + 1
    let reason = try broken.json()["skipped"]?[0]?["reason"]?.stringValue ?? ""
    #expect(
      reason.hasPrefix("line \(line) is not JSON") && reason.hasSuffix("nothing of the file was imported"), "\(reason)")
    #expect(try two.run("status", "--json").json()["revision"] == .integer(0))
    try Data(whole).write(to: URL(fileURLWithPath: file))
    #expect(try two.run("import", file, "--json").json()["imported"] == .integer(20))
    #expect(try two.run("import", file, "--json").json()["unchanged"] == .integer(20))
  }
}
