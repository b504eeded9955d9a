import Foundation
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// A store of version 1 is migrated to version 2, and clients of both versions work with it at once: an older one over
/// the wire, and `stickies graph`, which takes the version that is served.
@Suite struct TwoVersionsTests {
  private static let first = """
    {"format": 1, "name": "Club", "version": 1, "entities": [
      {"name": "Member", "attributes": [
        {"name": "name", "type": "string"}, {"name": "phone", "type": "string", "optional": true},
        {"name": "visits", "type": "integer", "default": 0}]}]}
    """
  private static let second = """
    {"format": 1, "name": "Club", "version": 2, "entities": [
      {"name": "Guest", "attributes": [{"name": "host", "type": "string"}]},
      {"name": "Member", "attributes": [
        {"name": "active", "type": "bool", "default": true}, {"name": "fullName", "renamed": "name", "type": "string"},
        {"name": "phone", "type": "string", "optional": true}, {"name": "visits", "type": "double", "default": 0}]}]}
    """

  /// A club of one member, made under version 1 and migrated to this.
  private func club(_ version: String = second) throws -> Daemon {
    let daemon = try Daemon()
    let schema = daemon.home.path + "/Club"
    try FileManager.default.createDirectory(atPath: schema, withIntermediateDirectories: true)
    try Self.first.write(toFile: schema + "/1.json", atomically: true, encoding: .utf8)
    try daemon.start(["--schema", schema])
    let made = try daemon.run("graph", "insert", "Member", "name=Ann", "phone=5")
    #expect(made.status == 0, "\(made.errors)")
    #expect(daemon.stop() == 0)
    try version.write(toFile: schema + "/2.json", atomically: true, encoding: .utf8)
    try daemon.start(["--schema", schema, "--migrate"])
    return daemon
  }

  private func chunk(_ client: RawClient, _ fetch: Fetch) async throws -> Chunk {
    guard case .chunk(let chunk) = try await client.reply(to: client.send(.fetch(fetch))) else {
      throw RawClient.ReadTimeout()
    }
    return chunk
  }

  /// The next delta, which answers no request.
  private func delta(_ client: RawClient) async throws -> Delta {
    while true {
      if case .delta(let delta) = try await client.reply(to: 0) { return delta }
    }
  }

  @Test func olderClientContinuesBesideNewerVersion() async throws {
    let daemon = try club()
    let model = try Model(parsing: Self.first.utf8)
    let member = try #require(model.entity(named: "Member"))
    func number(_ name: String) throws -> PropertyNumber { try #require(member.property(named: name)).number }
    let old = try RawClient(daemon.socket)
    let welcome = try await old.hello(model: model.hash)
    #expect(welcome.model == model.hash && welcome.entities.map(\.name) == ["Member"])
    #expect(welcome.entities.first?.properties.map(\.name) == ["name", "phone", "visits"])

    // The client reads in its own names.
    let found = try await chunk(old, Fetch(entity: member.number, predicate: "name == 'Ann' AND visits == 0"))
    let ann = try #require(found.objects.first)
    #expect(ann.values == [.string("Ann"), .string("5"), .integer(0)])

    // It follows a query, and receives the changes by clients of the other version as far as its model can express
    // them.
    let subscribe = try await old.send(.subscribe(Subscribe(entity: member.number)))
    guard case .subscribed(_, resumed: false, _) = try await old.reply(to: subscribe),
      case .chunk(let result) = try await old.reply(to: subscribe)
    else {
      Issue.record("the older client could not follow")
      return
    }
    #expect(result.objects == [ann])
    let hidden = try daemon.run("graph", "update", ann.id.description, "active=false")
    #expect(hidden.status == 0, "\(hidden.errors)")
    let update = try daemon.run("graph", "update", ann.id.description, "fullName=Anna", "visits=2.5")
    #expect(update.status == 0, "\(update.errors)")
    let reported = try await delta(old)
    // The first of the two commits does not affect this client.
    #expect(reported.revision > ann.revision + 1)
    let edits = try #require(reported.changes.first).edits
    #expect(
      Set(edits) == [Edit(try number("name"), .set(.string("Anna"))), Edit(try number("visits"), .set(.integer(2)))])

    // It commits from a base before the change that it can't see, and other clients see the commit.
    let phone = Change(.update, ann.id, base: reported.revision, edits: [Edit(try number("phone"), .set(.string("6")))])
    let insert = Change(
      .insert, .temporary(1, entity: member.number), edits: [Edit(try number("name"), .set(.string("Bob")))])
    guard case .committed(let committed, let objects, true, _) = try await old.commit([phone, insert]) else {
      Issue.record("the older client could not commit")
      return
    }
    #expect(committed.identities.count == 1)
    #expect(Set(objects.map { $0.values[1] }) == [.string("6"), .null])
    let lines = try daemon.run(
      "graph", "fetch", "Member", "--where", "fullName == 'Bob' AND active == TRUE OR phone == '6' AND visits == 2.5",
      "--count")
    #expect(lines.output == "2\n", "\(lines.errors)")

    // A refusal uses the names of the client's version.
    let empty = Change(.update, ann.id, base: committed.revision, edits: [Edit(try number("name"), .set(.null))])
    guard case .refused(let refusal) = try await old.commit([empty]) else {
      Issue.record("a required property was emptied")
      return
    }
    #expect(refusal.violations.map(\.property) == [try number("name")])
    #expect(refusal.message.contains("Member.name") && !refusal.message.contains("fullName"))

    // History, too, is in the terms of its version.
    guard case .why(let origin) = try await old.reply(to: old.send(.why(ann.id, number("visits")))) else {
      Issue.record("the older client could not ask why")
      return
    }
    #expect(origin.value == .integer(2))
    old.close()
    #expect(daemon.stop() == 0)
  }

  @Test func deleteIsNotBlockedByPropertiesHiddenFromOlderClient() async throws {
    let daemon = try club()
    let model = try Model(parsing: Self.first.utf8)
    let member = try #require(model.entity(named: "Member"))
    let old = try RawClient(daemon.socket)
    try await old.hello(model: model.hash)
    let ann = try #require(try await chunk(old, Fetch(entity: member.number)).objects.first)
    #expect(try daemon.run("graph", "update", ann.id.description, "active=false").status == 0)
    guard case .committed = try await old.commit([Change(.delete, ann.id, base: ann.revision)]) else {
      Issue.record("the delete was refused")
      return
    }
    #expect(try daemon.run("graph", "fetch", "Member", "--count").output == "0\n")
    old.close()
    #expect(daemon.stop() == 0)
  }

  /// The older client is the `stickies` of today, whose notes a newer version calls otherwise.
  @Test func historyUsesNamesOfOlderClient() throws {
    let daemon = try Daemon()
    let schema = daemon.home.path + "/Stickies"
    try FileManager.default.createDirectory(atPath: schema, withIntermediateDirectories: true)
    let first = String(decoding: try Fixtures.file("Schema/Stickies/2.json"), as: UTF8.self)
    try first.write(toFile: schema + "/2.json", atomically: true, encoding: .utf8)
    try daemon.start(["--schema", schema])
    #expect(try daemon.run("add", "milk").status == 0)
    #expect(daemon.stop() == 0)
    let second = first.replacing(#""version": 2"#, with: #""version": 3"#)
      .replacing(#""name": "collapsed""#, with: #""name": "folded", "renamed": "collapsed""#)
      .replacing(#""teal", "brown", "white""#, with: #""teal", "brown", "white", "gold""#)
    #expect(second.contains("folded") && second.contains("gold"))
    try second.write(toFile: schema + "/3.json", atomically: true, encoding: .utf8)
    try daemon.start(["--schema", schema, "--migrate"])
    let id = try #require(try daemon.run("list", "--json").json().arrayValue?.first?["id"]?.stringValue)
    let update = try daemon.run("graph", "update", id, "folded=true", "color=gold")
    #expect(update.status == 0, "\(update.errors)")
    let why = try daemon.run("why", "1.collapsed")
    #expect(why.status == 0 && why.output.hasPrefix("true\n"), "\(why.errors)")
    #expect(try daemon.run("why", "1.color").output.hasPrefix("yellow\n"))
    #expect(try daemon.run("why", "1.folded").status != 0)
    let difference = try daemon.run("diff", "#1", "1").output
    #expect(difference.contains("collapsed: ") && !difference.contains("folded"), "\(difference)")
    let log = try daemon.run("log", "--json").output
    // Followed commits are in the same terms as the log.
    let followed = try daemon.run("follow", "--since", "0", "--until-now").lines
    #expect(
      try followed.reversed().map { try JSON(parsing: $0)["changes"] }
        == JSON(parsing: log).arrayValue?.map { $0["changes"] })
    #expect(log.contains(#""collapsed""#) && !log.contains("folded") && !log.contains("gold"))
    // An object that it sees as yellow is found as yellow, and a new case is sorted as yellow.
    #expect(try daemon.run("list", "--where", "color == 'yellow'", "--sort", "color", "--json").output.contains(id))
    // The commands of any model speak the daemon's.
    #expect(try daemon.run("graph", "why", "\(id.prefix(12)).folded").output.hasPrefix("true\n"))
    #expect(try daemon.run("graph", "fetch", "Note", "--where", "color == 'gold'", "--count").output == "1\n")
    #expect(daemon.stop() == 0)
  }

  @Test func tooOldVersionIsRefusedAtHello() async throws {
    let daemon = try club(
      Self.second.replacing(#"{"name": "phone", "type": "string", "optional": true},"#, with: ""))
    let old = try RawClient(daemon.socket)
    let model = try Model(parsing: Self.first.utf8)
    do {
      try await old.hello(model: model.hash)
      Issue.record("the older client was welcomed")
    } catch let ended as RawClient.StreamClosed {
      #expect(ended.goodbye?.code == "notAllowed")
      #expect(ended.goodbye?.message.contains("(Club 1)") == true)
      #expect(ended.goodbye?.message.contains("Member.phone was removed") == true)
    }
    old.close()
    #expect(daemon.stop() == 0)
  }
}
