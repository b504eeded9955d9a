import Foundation
import GraphModel
import GraphTesting
import Testing

/// Schema/Museum, a model that no line of Swift knows, served from its folder and used through `stickies graph` alone:
/// a one-to-one, recursive and ordered many-to-manys, a list with places, counts, `noAction`; each rule is broken once.
@Suite struct MuseumScenarioTests {
  private static let schema = Fixtures.root + "/Schema/Museum"

  @Test func museumModelIsServedWithoutGeneratedCode() throws {
    let museum = try Museum()
    try museum.daemon.start(["--schema", Self.schema])
    let ids = try furnish(museum)
    try readTheModel(museum)
    try stand(museum, ids)
    try relate(museum, ids)
    try lead(museum, ids)
    try talk(museum, ids)
    try breakEveryRule(museum, ids)
    try clear(museum, ids)
    #expect(museum.daemon.stop() == 0)
    try museum.daemon.expectSound(["--schema", Self.schema])
  }

  // MARK: - The chapters

  private func furnish(_ museum: Museum) throws -> LabeledIDs {
    let made = try museum.run(
      "insert", "Exhibit", "-", "--json",
      input: """
        {"$entity": "Hall", "$id": "east", "code": "EAST"}
        {"$entity": "Hall", "$id": "west", "code": "WEST"}
        {"$entity": "Lender", "$id": "club", "name": "Club"}
        {"$entity": "Pedestal", "$id": "p1", "code": "P1"}
        {"$entity": "Pedestal", "$id": "p2", "code": "P2"}
        {"$id": "vase", "name": "Vase", "code": "VA-001", "year": -400, "hall": "east", "pedestal": "p1", \
        "lender": "club", "spot.row": "A", "spot.seat": 1, "label": "Red figures on black"}
        {"$id": "mask", "name": "Mask", "code": "MA-001", "year": 1200, "hall": "east", "lender": "club", \
        "related": ["vase", "coin"]}
        {"$id": "coin", "name": "Coin", "code": "CO-001", "year": 330, "hall": "east", "spot.row": "A", "spot.seat": 2}
        {"$id": "helm", "name": "Helm", "code": "HE-001", "year": 1350, "hall": "west"}
        {"$entity": "Painting", "$id": "lake", "name": "Lake", "code": "PA-001", "year": 1801, "artist": "Ada", \
        "hall": "east", "pedestal": "p2"}
        {"$entity": "Tour", "$id": "short", "title": "Short", "stops": ["coin", "vase", "lake"]}
        {"$entity": "Talk", "$id": "hello", "words": "Hello", "tour": "short"}
        {"$entity": "Talk", "$id": "ship", "words": "A ship", "tour": "short"}
        {"$entity": "Talk", "$id": "bye", "words": "Good bye", "tour": "short"}
        """)
    #expect(made.status == 0, "\(made.errors)")
    var ids = [String: String]()
    for line in try made.lines.map({ try JSON(parsing: $0) }) {
      ids[try #require(line["$id"]?.stringValue)] = try #require(line["id"]?.stringValue)
    }
    #expect(ids.count == 14)
    return LabeledIDs(byLabel: ids)
  }

  /// A user who has never seen the model can list all of its rules.
  private func readTheModel(_ museum: Museum) throws {
    let tour = try museum.run("entities", "Tour", "--json").json()
    let stops = try #require(tour["relationships"]?.arrayValue?.first { $0["name"] == .string("stops") })
    #expect(stops["ordered"] == .bool(true) && stops["stored"] == .bool(true))
    #expect(stops["minimumCount"] == .integer(2) && stops["maximumCount"] == .integer(4))
    let text = try museum.run("entities", "Pedestal").output
    #expect(text.contains("optional, delete rule noAction"), "\(text)")
    let late = try museum.run("fetch", "--template", "onTour", "--set", "title=Short", "--json").json()
    #expect(late.arrayValue?.map { $0["name"] } == ["Coin", "Lake", "Vase"].map(JSON.string))
  }

  /// A one-to-one: an object that takes a pedestal takes it from its previous owner, at both ends.
  private func stand(_ museum: Museum, _ ids: LabeledIDs) throws {
    #expect(try museum.value("exhibit", of: ids["p1"]) == .string(ids["vase"]))
    try museum.must("update", ids["mask"], "pedestal=\(ids["p1"])")
    #expect(try museum.value("exhibit", of: ids["p1"]) == .string(ids["mask"]))
    #expect(try museum.value("pedestal", of: ids["vase"]) == .null)
    try museum.must("update", ids["p2"], "exhibit=\(ids["coin"])")
    #expect(try museum.value("pedestal", of: ids["coin"]) == .string(ids["p2"]))
    #expect(try museum.value("pedestal", of: ids["lake"]) == .null)
    // From one pedestal to another.
    try museum.must("update", ids["coin"], "pedestal=\(ids["p1"])")
    #expect(try museum.value("exhibit", of: ids["p1"]) == .string(ids["coin"]))
    #expect(try museum.value("exhibit", of: ids["p2"]) == .null)
    #expect(try museum.value("pedestal", of: ids["mask"]) == .null)
    #expect(try museum.names("Exhibit", where: "pedestal.code == \"P1\"") == ["Coin"])
    try museum.must("update", ids["p1"], "exhibit=\(ids["mask"])")
    try museum.must("update", ids["p2"], "exhibit=\(ids["coin"])")
  }

  /// Exhibits are related to exhibits: the test edits both ends, and relates an exhibit to itself.
  private func relate(_ museum: Museum, _ ids: LabeledIDs) throws {
    #expect(try museum.members("relatedTo", of: ids["coin"]) == [ids["mask"]])
    #expect(try museum.names("Exhibit", where: "ANY related.name == \"Coin\"") == ["Mask"])
    try museum.must("update", ids["coin"], "--add", "relatedTo=\(ids["helm"])")
    #expect(try museum.members("related", of: ids["helm"]) == [ids["coin"]])
    try museum.must("update", ids["mask"], "--remove", "related=\(ids["coin"])")
    #expect(try museum.members("relatedTo", of: ids["coin"]) == [ids["helm"]])
    try museum.must("update", ids["coin"], "--add", "related=\(ids["coin"]),\(ids["helm"])")
    #expect(Set(try museum.members("relatedTo", of: ids["coin"])) == [ids["helm"], ids["coin"]])
    #expect(try museum.names("Exhibit", where: "ANY related.related.name == \"Helm\"") == ["Coin", "Helm"])
  }

  /// The stops of a tour are ordered, and other clients see moves.
  private func lead(_ museum: Museum, _ ids: LabeledIDs) throws {
    let short = ids["short"]
    func stops() throws -> [String] { try museum.members("stops", of: short).map(ids.label) }
    #expect(try stops() == ["coin", "vase", "lake"])
    let watcher = try Watcher(museum.daemon, command: ["graph", "watch", "Tour"])
    #expect(try watcher.next()["snapshot"]?.count == 1)
    try museum.must("update", short, "--place", "stops=\(ids["lake"]):first")
    let moved = try watcher.next()["changes"]?[0]
    #expect(moved?["changed"] == .array([.string("stops")]))
    #expect(moved?["object"]?["stops"] == .array(["lake", "coin", "vase"].map { JSON.string(ids[$0]) }))
    try museum.must("update", short, "--place", "stops=\(ids["mask"]):\(ids["lake"])")
    #expect(try stops() == ["lake", "mask", "coin", "vase"])
    try museum.must("update", short, "--place", "stops=\(ids["lake"]),\(ids["mask"]):last")
    #expect(try stops() == ["coin", "vase", "lake", "mask"])
    // The edit is made at the end without an order.
    try museum.must("update", ids["coin"], "--remove", "tours=\(short)")
    try museum.must("update", ids["helm"], "tours=\(short)")
    #expect(try stops() == ["vase", "lake", "mask", "helm"])
    try museum.must("update", short, "stops=" + [ids["mask"], ids["vase"], ids["lake"]].joined(separator: ","))
    #expect(try stops() == ["mask", "vase", "lake"])
    #expect(try museum.members("tours", of: ids["helm"]).isEmpty)
    watcher.kill()
  }

  /// Talks hold their places, which queries sort by.
  private func talk(_ museum: Museum, _ ids: LabeledIDs) throws {
    func talks() throws -> [String] {
      let listed = try museum.members("talks", of: ids["short"]).map(ids.label)
      let sorted = try museum.run(
        "fetch", "Talk", "--where", "tour == \"\(ids["short"])\"", "--sort", "tour.order", "--ids", "--json"
      ).json().arrayValue?.compactMap(\.stringValue).map(ids.label)
      #expect(sorted == listed)
      return listed
    }
    #expect(try talks() == ["hello", "ship", "bye"])
    try museum.must("update", ids["short"], "--place", "talks=\(ids["bye"]):first")
    try museum.must("update", ids["short"], "--place", "talks=\(ids["hello"]):\(ids["ship"])")
    #expect(try talks() == ["bye", "ship", "hello"])
    let list = [ids["ship"], ids["hello"], ids["bye"]]
    try museum.must("update", ids["short"], "talks=" + list.joined(separator: ","))
    #expect(try talks() == ["ship", "hello", "bye"])
  }

  /// Each refusal names the value and the rule, and leaves no trace.
  private func breakEveryRule(_ museum: Museum, _ ids: LabeledIDs) throws {
    let (vase, mask, coin, short) = (ids["vase"], ids["mask"], ids["coin"], ids["short"])
    func title(_ label: String, _ entity: String = "Exhibit") -> String {
      "\(entity) \(ids[label].prefix(8)) \(label.capitalized)"
    }
    let (hall, tour) = ("Hall \(ids["east"].prefix(8)) EAST", title("short", "Tour"))
    let long = String(repeating: "x", count: 41)
    let mistakes: [(words: [String], subject: String, message: String, rule: String)] = [
      (
        ["update", short, "--add", "stops=\(coin),\(ids["helm"])"], tour, "Tour.stops has 5 objects; the maximum is 4",
        "count, value 5"
      ),
      (
        ["update", ids["helm"], "hall=\(ids["east"])"], hall, "Hall.exhibits has 5 objects; the maximum is 4",
        "count, value 5"
      ),
      (["update", short, "stops=\(vase)"], tour, "Tour.stops has 1 object; the minimum is 2", "count, value 1"),
      (["delete", vase, mask], tour, "Tour.stops has 1 object; the minimum is 2", "count, value 1"),
      (
        ["delete", ids["ship"], ids["hello"], ids["bye"]], tour, "Tour.talks has 0 objects; the minimum is 1",
        "count, value 0"
      ),
      (
        ["update", vase, "name=\(long)"], title("vase"), "Exhibit.name has 41 bytes; the maximum is 40",
        "maximumLength, value \"\(long)\""
      ),
      (
        ["update", vase, "name="], title("vase"), "Exhibit.name has 0 bytes; the minimum is 1",
        "minimumLength, value \"\""
      ),
      (
        ["update", ids["lake"], "artist=A"], title("lake", "Painting"), "Painting.artist has 1 byte; the minimum is 2",
        "minimumLength, value \"A\""
      ),
      (
        ["update", vase, "code=va-1"], title("vase"), "Exhibit.code does not match [A-Z]{2}-[0-9]{3}",
        "pattern, value \"va-1\""
      ),
      (
        ["update", vase, "spot.row=a"], title("vase"), "Exhibit.spot.row does not match [A-Z]",
        "pattern, value \"a\""
      ),
      (["update", vase, "year=-3001"], title("vase"), "Exhibit.year is less than -3000", "minimum, value -3001"),
      (["update", vase, "year=2101"], title("vase"), "Exhibit.year is more than 2100", "maximum, value 2101"),
      (
        ["update", vase, "borrowed=2026-02-01", "returned=2026-01-01"], title("vase"),
        "what is returned was borrowed before", "returnedAfterBorrowed"
      ),
      (
        ["update", mask, "code=VA-001"], title("mask"), "there is already an Exhibit with this code",
        "unique, value \"VA-001\""
      ),
      (
        ["update", coin, "spot.seat=1"], title("coin"),
        "there is already an Exhibit with this hall and spot.row and spot.seat",
        "unique, hall \(hall), spot.row \"A\", spot.seat 1"
      ),
      (
        ["delete", ids["club"]], title("club", "Lender"),
        "deleting this Lender would leave 2 references to it (exhibits)", "dangling, value \(title("vase"))"
      ),
      (
        ["delete", ids["p1"]], "Pedestal \(ids["p1"].prefix(8)) P1",
        "deleting this Pedestal would leave a reference to it (exhibit)", "dangling, value \(title("mask"))"
      ),
      (["update", vase, "hall:=null"], title("vase"), "Exhibit.hall needs a value", "required"),
      (
        ["update", vase, "number=9"], title("vase"), "Exhibit.number is set by the server, not by a client",
        "assigned, value 9"
      ),
      (
        ["update", vase, "key=x"], title("vase"), "Exhibit.key is derived: the rules set it, not a client", "assigned"
      ),
    ]
    let before = try museum.everything()
    for (words, subject, message, rule) in mistakes {
      let result = try museum.run(words)
      #expect(result.status == 2, "\(words)")
      #expect(
        result.errors.hasPrefix("stickies: \(message)\n  \(subject): \(message) (\(rule))\n"),
        "\(words): \(result.errors)")
    }
    let alone = try museum.run("insert", "Tour", "title=Empty")
    #expect(alone.status == 2)
    #expect(
      alone.errors == """
        stickies: Tour.stops has 0 objects; the minimum is 2 (and 1 more)
          the new Tour: Tour.stops has 0 objects; the minimum is 2 (count, value 0)
          the new Tour: Tour.talks has 0 objects; the minimum is 1 (count, value 0)

        """)
    // The program refuses an unknown case of the enumeration without a request.
    let condition = try museum.run("update", vase, "condition=brokn")
    #expect(condition.status == 64)
    #expect(
      condition.errors.hasPrefix(
        "stickies: Exhibit.condition takes one of good, worn, broken, and not brokn. Did you mean \"broken\"?"))
    let denied = try museum.run("delete", ids["east"])
    #expect(denied.status == 2)
    #expect(denied.errors.hasPrefix("stickies: this Hall can't be deleted while 4 of its exhibits remain\n"))
    for label in ["vase", "mask", "coin"] { #expect(denied.errors.contains("\(hall): exhibits has \(title(label))\n")) }
    #expect(denied.errors.contains("\(hall): exhibits has \(title("lake", "Painting"))\n"))
    #expect(try museum.everything() == before)
  }

  /// Objects that refer to each other, also in circles, can be deleted together, and an undo restores all of them.
  private func clear(_ museum: Museum, _ ids: LabeledIDs) throws {
    // A part of a part of itself.
    try museum.must("update", ids["coin"], "partOf=\(ids["mask"])")
    try museum.must("update", ids["helm"], "partOf=\(ids["coin"])")
    try museum.must("update", ids["mask"], "partOf=\(ids["helm"])")
    let before = try museum.everything()
    let reported = try museum.run("delete", ids["mask"])
    #expect(
      reported.lines.first == "deleted Exhibit \(ids["mask"].prefix(8)) Mask" && reported.lines.count == 3,
      "\(reported)")
    #expect(try museum.names("Exhibit") == ["Lake", "Vase"])
    #expect(try museum.members("stops", of: ids["short"]) == [ids["vase"], ids["lake"]])
    #expect(try museum.value("exhibit", of: ids["p1"]) == .null)
    try museum.must("undo")
    #expect(try museum.everything() == before)
    // A lender is deleted with the exhibits that it lent, once no tour needs them.
    try museum.must("delete", ids["short"])
    #expect(try museum.count("Talk") == 0)
    try museum.must("delete", ids["club"], ids["vase"], ids["mask"])
    #expect(try museum.names("Exhibit") == ["Lake"])
    try museum.must("delete", ids["p1"], ids["p2"])
    try museum.must("delete", "Exhibit", "--where", "TRUEPREDICATE", "--one-commit")
    try museum.must("delete", "Hall", "--where", "shown == 0")
    for entity in ["Item", "Hall", "Pedestal", "Lender", "Tour", "Talk"] {
      #expect(try museum.count(entity) == 0, "\(entity)")
    }
  }
}

/// The objects by the labels under which they were inserted.
private struct LabeledIDs {
  let byLabel: [String: String]

  subscript(label: String) -> String { byLabel[label] ?? "no \(label)" }

  func label(_ id: String) -> String { byLabel.first { $0.value == id }?.key ?? "no label for \(id)" }
}

/// A daemon, and the operations of the story.
private struct Museum {
  let daemon: Daemon

  init() throws { daemon = try Daemon() }

  func run(_ words: [String], input: String? = nil) throws -> Daemon.Result {
    try Daemon.run(["graph"] + words, server: daemon.socket.description, author: "ann@test", input: input)
  }

  func run(_ words: String..., input: String? = nil) throws -> Daemon.Result { try run(words, input: input) }

  func must(_ words: String..., place: SourceLocation = #_sourceLocation) throws {
    let result = try run(words)
    #expect(result.status == 0, "\(words): \(result.errors)", sourceLocation: place)
  }

  func value(_ property: String, of id: String) throws -> JSON? { try run("show", id, "--json").json()[property] }

  func members(_ property: String, of id: String) throws -> [String] {
    try #require(try value(property, of: id)?.arrayValue).compactMap(\.stringValue)
  }

  func names(_ entity: String, where predicate: String = "TRUEPREDICATE") throws -> [String] {
    try run("fetch", entity, "--where", predicate, "--sort", "name", "--json").json().arrayValue?
      .compactMap { $0["name"]?.stringValue } ?? []
  }

  func count(_ entity: String) throws -> Int64? {
    try run("fetch", entity, "--count", "--json").json()["count"]?.integerValue
  }

  /// All objects, without the values that depend on the commit.
  func everything() throws -> [[JSON.Member]] {
    try ["Item", "Hall", "Pedestal", "Lender", "Tour", "Talk"].flatMap { entity in
      try run("fetch", entity, "--json").json().arrayValue?
        .map { $0.members?.filter { !["revision", "changedAt"].contains($0.name) } ?? [] } ?? []
    }
  }
}
