import GraphModel
import GraphTesting
import GraphWire
import SwiftProtobuf
import Testing

/// Messages recorded by protoc, which this and every later build must decode and encode with the same bytes.
/// `scripts/golden` makes new ones; no test does.
@Suite struct GoldenTests {
  @Test(arguments: try GoldenMessage.all())
  func recordedMessageRoundTripsByteForByte(golden: GoldenMessage) throws {
    let written =
      golden.isToServer ? try ToServer(binary: golden.bytes).binary : try ToClient(binary: golden.bytes).binary
    #expect(written == golden.bytes)
    let described: [UInt8] =
      golden.isToServer
      ? try Graph_ToServer(textFormatString: golden.text).serializedBytes()
      : try Graph_ToClient(textFormatString: golden.text).serializedBytes()
    #expect(described == golden.bytes, "the text form is of another message")
  }

  @Test func everyMessageKindHasAFile() throws {
    let schema = try WireSchema.graph()
    let names = try GoldenMessage.all().map(\.name)
    for (type, direction) in [("ToServer", "to-server"), ("ToClient", "to-client")] {
      let kinds = try #require(schema.messages[type]).filter(\.isChoice).map { "\(direction).\($0.name)" }
      #expect(kinds.count > 10)
      for kind in kinds {
        #expect(
          names.contains { $0 == kind || $0.hasPrefix(kind + ".") },
          "no golden message for \(kind): write Schema/Wire/golden/\(kind).txt and run scripts/golden")
      }
      for name in names where name.hasPrefix(direction) {
        let kind = name.split(separator: ".").prefix(2).joined(separator: ".")
        #expect(kinds.contains(kind), "\(name) is named after no message")
      }
    }
  }

  @Test func everyFileContainsItsMessage() throws {
    let schema = try WireSchema.graph()
    for golden in try GoldenMessage.all() {
      let kind = golden.name.split(separator: ".")[1]
      let found = try schema.everything(in: golden.bytes, of: golden.type)
      #expect(found.contains("\(golden.type).\(kind)"), "\(golden.name)")
    }
  }

  /// Every kind of value, edit, change, policy and conflict: a field or a case without a file fails here.
  @Test func everyFieldAndCaseIsRecorded() throws {
    let schema = try WireSchema.graph()
    var found = Set<String>()
    for golden in try GoldenMessage.all() {
      found.formUnion(try schema.everything(in: golden.bytes, of: golden.type))
    }
    let all = schema.everything(in: "ToServer").union(schema.everything(in: "ToClient"))
    #expect(all.count > 150)
    #expect(all.subtracting(found).sorted() == [])
  }

  @Test func recordedTransactionDecodesAsDescribed() throws {
    let files = Dictionary(uniqueKeysWithValues: try GoldenMessage.all().map { ($0.name, $0) })
    func transaction(_ name: String) throws -> Transaction {
      let golden = try #require(files["to-server.commit.\(name)"])
      guard case .commit(let transaction) = try ToServer(binary: golden.bytes).body else {
        throw GoldenMessage.ParseError.notGolden(file: name)
      }
      return transaction
    }
    let note = ObjectID(key: UniqueID(high: 1_858_021_357_289_472, low: 9_270_452_318_907_231_846), entity: 3)

    let insert = try #require(try transaction("insert").changes.first)
    #expect(insert.kind == .insert)
    #expect(insert.id == .temporary(1, entity: 3))
    #expect(insert.edits.count == 15)
    #expect(insert.edits[2].action == .set(.integer(.min)))
    #expect(insert.edits[5].action == .set(.decimal(try #require(DecimalValue("12.5")))))
    #expect(insert.edits[8].action == .set(.date(-1)))
    #expect(insert.edits[14].action == .set(.null))

    let splice = try transaction("splice")
    #expect(splice.policy == .storeTrump)
    #expect(
      splice.changes == [
        Change(
          .update, note, base: 4711,
          edits: [
            Edit(
              20,
              .splice([
                TextSplice(offset: 0, length: 4, insertion: "Ring"),
                TextSplice(offset: 9, length: 0, insertion: " – today"),
              ]))
          ])
      ])

    let leaning = TextSplice(offset: 9, length: 0, insertion: "ay", hasLeftAffinity: true)
    #expect(try transaction("splice-affinity").changes.first?.edits == [Edit(20, .splice([leaning]))])

    #expect(try transaction("delete").changes == [Change(.delete, note, base: 4711)])
    #expect(try transaction("delete").policy == .rollback)
    #expect(try transaction("revive").changes.first?.kind == .revive)
    #expect(try transaction("undo-group").undo?.name == "Move")
    #expect(try transaction("members").policy == .overwrite)
    let place = try #require(try transaction("place").changes.first?.edits.first)
    guard case .place(let objects, let anchor) = place.action else {
      Issue.record("the golden place is none")
      return
    }
    #expect(objects.map(\.key.high) == [1_858_021_357_290_444, 1_858_021_357_290_333], "in the order of the message")
    #expect(anchor?.key.low == 4_242_424_242_424_242_424)
  }
}
