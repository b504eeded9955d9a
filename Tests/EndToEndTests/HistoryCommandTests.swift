import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import StickiesKit
import Testing

/// The past through the command line and the library: restore, why, diff, filtered logs, and following from a token.
@Suite struct HistoryCommandTests {
  private func revision(_ daemon: Daemon) throws -> String {
    let newest = try daemon.run("log", "--limit", "1", "--json").json()[0]?["revision"]?.integerValue
    return String(try #require(newest))
  }

  // MARK: - Restore

  @Test func deletedNoteIsRestoredByNumber() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "milk", "--tag", "shop")
    let before = try daemon.run("show", "1", "--json").json()
    try daemon.run("delete", "1")
    #expect(try daemon.run("show", "1").status == 4)
    let restored = try daemon.run("restore", "1")
    #expect(restored.output.hasPrefix("restored: 1 object came back\n    + #1 milk\n"))
    #expect(restored.errors.isEmpty)
    let after = try daemon.run("show", "1", "--json").json()
    for name in ["id", "number", "text", "board", "tags", "created", "updated"] { #expect(after[name] == before[name]) }
    let again = try daemon.run("restore", "1")
    #expect(again.status == 64)
    #expect(again.errors.contains("is not deleted: name the revision"))
    #expect(try daemon.run("restore", "4711").status == 4)
    #expect(try daemon.run("restore", "1", "--at", "4711").status == 4)
    #expect(try daemon.run("restore", "1", "--at", "soon").status == 64)
    #expect(try daemon.run("restore").status == 64)
    #expect(try daemon.run("undo").status == 0)
    #expect(try daemon.run("show", "1").status == 4)
    #expect(daemon.stop() == 0)
  }

  @Test func boardIsRestoredWithNotesAndOmissionsAreReported() throws {
    let daemon = try Daemon()
    try daemon.start()
    let board = try #require(try daemon.run("board", "add", "Ideas", "--json").json()["id"]?.stringValue)
    try daemon.run("add", "one", "--board", "Ideas", "--tag", "gone")
    try daemon.run("add", "two", "--board", "Ideas")
    #expect(try daemon.run("board", "delete", "Ideas", "--yes").status == 0)
    let tag = try daemon.run("graph", "fetch", "Tag", "--json").json()[0]?["id"]?.stringValue
    #expect(try daemon.run("graph", "delete", try #require(tag), author: "bob@test").status == 0)
    let restored = try daemon.run("restore", board, "--json")
    #expect(restored.status == 0)
    let json = try restored.json()
    #expect(json["changes"]?.count == 3)
    #expect(json["skipped"]?[0]?["kind"] == .string("deleted"))
    #expect(json["skipped"]?[0]?["property"] == .string("tags"))
    #expect(json["skipped"]?[0]?["author"] == .string("bob@test"))
    #expect(try daemon.run("list", "--board", "Ideas", "--json").json().count == 2)
    // With `--only`, the board is restored without its notes.
    #expect(try daemon.run("board", "delete", "Ideas", "--yes").status == 0)
    #expect(try daemon.run("restore", board, "--only").output.hasPrefix("restored: 1 object came back\n"))
    #expect(try daemon.run("list", "--board", "Ideas", "--json").json().count == 0)
    #expect(daemon.stop() == 0)
  }

  /// A department counts its people: a restored person changes the count, which is not reset by it.
  @Test func derivedCountIsNotRestored() throws {
    let company = try CompanyDaemon()
    let person = try company.person("Ann", in: try company.department())
    #expect(try company.run("delete", person).status == 0)
    let restored = try company.run("restore", person)
    #expect(restored.output.hasPrefix("restored: 1 object came back\n"), "\(restored.output)")
    #expect(restored.lines.count == 2)
    #expect(company.daemon.stop() == 0)
  }

  @Test func wholeGraphIsRestoredWithConfirmation() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    let then = try revision(daemon)
    try daemon.run("add", "two")
    try daemon.run("move", "1", "5,5")
    let asked = try daemon.run("restore", "--all", "--at", then)
    #expect(asked.status == 2)
    #expect(asked.errors.contains("use --yes"))
    #expect(try daemon.run("list", "--json").json().count == 2)
    let restored = try daemon.run("restore", "--all", "--at", then, "--yes")
    #expect(restored.output.hasPrefix("restored revision \(then): 1 object set back, 1 object deleted\n"))
    #expect(try daemon.run("list", "--json").json().count == 1)
    #expect(try daemon.run("show", "1", "--json").json()["x"] == .integer(0))
    #expect(try daemon.run("restore", "--all").status == 64)
    #expect(try daemon.run("restore", "--all", "--at", then, "--yes").status == 2)
    #expect(daemon.stop() == 0)
  }

  /// Revision 0 is the empty graph. The restore is a commit, which undo reverts.
  @Test func graphIsRestoredToEmptyState() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one", "--tag", "t")
    let asked = try daemon.run("restore", "--all", "--at", "0")
    #expect(asked.status == 2 && asked.errors.contains("this deletes all objects"))
    let restored = try daemon.run("restore", "--all", "--at", "0", "--yes")
    #expect(restored.status == 0 && restored.output.hasPrefix("restored revision 0: "), "\(restored.errors)")
    #expect(try daemon.run("export").output.isEmpty)
    #expect(try daemon.run("restore", "--all", "--at", "0", "--yes").status == 2)
    #expect(try daemon.run("restore", "1", "--at", "0").errors.contains("nothing existed at"))
    #expect(try daemon.run("undo").status == 0)
    #expect(try daemon.run("show", "1", "--json").json()["text"] == .string("one"))
    #expect(daemon.stop() == 0)
  }

  @Test func objectsThatBlockRestoreAreReported() throws {
    let daemon = try Daemon()
    try daemon.start()
    let first = try #require(try daemon.run("board", "add", "Ideas", "--json").json()["id"]?.stringValue)
    try daemon.run("board", "delete", "Ideas")
    let second = try #require(try daemon.run("board", "add", "Ideas", "--json").json()["id"]?.stringValue)
    let taken = try daemon.run("restore", first)
    #expect(taken.status == 2)
    #expect(
      taken.errors.contains(String(second.prefix(8))) && taken.errors.contains("is in the way"), "\(taken.errors)")
    // A note requires its board.
    try daemon.run("add", "one", "--board", "Ideas")
    try daemon.run("delete", "1")
    try daemon.run("board", "delete", "Ideas", author: "bob@test")
    let alone = try daemon.run("restore", "1")
    #expect(alone.status == 2)
    #expect(alone.errors.contains(String(second.prefix(8))), "\(alone.errors)")
    #expect(alone.errors.contains("was deleted by bob@test"), "\(alone.errors)")
    #expect(daemon.stop() == 0)
  }

  @Test(arguments: [("n\n", 2), ("y\n", 0), ("\u{4}", 2)])
  func restoreOfWholeGraphAsksAtTerminal(answer: String, status: Int) throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    let then = try revision(daemon)
    try daemon.run("add", "two")
    let asked = try PseudoTerminal.run(["restore", "--all", "--at", then], typing: answer, daemon)
    #expect(asked.errors.contains("and deletes objects created since. Go on? [y/N]"), "\(asked.errors)")
    #expect(asked.status == Int32(status))
    #expect(asked.errors.contains("nothing was restored") == (status != 0))
    #expect(try daemon.run("list", "--json").json().count == (status == 0 ? 1 : 2))
    #expect(daemon.stop() == 0)
  }

  /// The daemon omits objects that do not fit into an answer, but names them.
  @Test func tooLargeCommitReportsItsObjects() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let photo = Data(repeating: 7, count: 1_000_000).base64EncodedString()
    let lines = (0..<10).map { number in
      #"{"name":"Person \#(number)","hired":"2020-01-01","department":"\#(department)","photo":"\#(photo)"}"# + "\n"
    }
    #expect(try company.run("insert", "Person", "-", input: lines.joined()).status == 0)
    let large = try company.run("update", "Person", "--where", "TRUEPREDICATE", "--one-commit", "photo:=null")
    #expect(large.status == 0, "\(large.errors)")
    let ids = try company.run("fetch", "Person", "--ids").lines
    let log = try Daemon.run(
      ["log", "--limit", "1"], server: company.daemon.socket.description, author: "ann@test", input: nil)
    let reported = log.output.split(separator: "\n").dropFirst().map(String.init)
    #expect(Set(reported) == Set(ids.map { "    ~ Person \($0.prefix(8))" }), "\(reported)")
    let json = try Daemon.run(
      ["log", "--limit", "1", "--json"], server: company.daemon.socket.description, author: "ann@test", input: nil
    ).json()
    let changes = try #require(json[0]?["changes"]?.arrayValue)
    #expect(Set(changes.compactMap { $0["object"]?["id"]?.stringValue }) == Set(ids))
    #expect(changes.allSatisfy { $0["changed"] == nil && $0["kind"] == .string("updated") })
  }

  @Test func emptyLogReportsTheHead() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    let newest = try revision(daemon)
    let log = try daemon.run("log", "--since", "99")
    #expect(log.status == 0 && log.output.isEmpty)
    #expect(log.errors == "stickies: no commit matches; the newest is revision \(newest)\n")
    let json = try daemon.run("log", "--since", "99", "--json")
    #expect(json.output == "[]\n" && json.errors.isEmpty)
    #expect(daemon.stop() == 0)
  }

  @Test func linkWithoutLabelEndsWithItsID() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    try daemon.run("add", "two")
    #expect(try daemon.run("link", "1", "2").output.wholeMatch(of: #/link [0-9a-z]{8}\n/#) != nil)
    #expect(try daemon.run("link", "1", "2", "--label", "see").output.wholeMatch(of: #/link [0-9a-z]{8} see\n/#) != nil)
    #expect(daemon.stop() == 0)
  }

  // MARK: - Why and diff

  @Test func diffOfLongTextsShowsTheDifference() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "list")
    let first = try revision(daemon)
    try daemon.run("edit", "1", "--text", "list\nmilk")
    let second = try revision(daemon)
    try daemon.run("edit", "1", "--text", "list\nbread")
    #expect(try daemon.run("diff", "1", first, second).output.contains("text: 1 line → line 2: milk\n"))
    #expect(try daemon.run("diff", "#1", second).output.contains("text: line 2: milk → line 2: bread\n"))
    #expect(try daemon.run("why", "1.text").output.contains("replaced: line 2: milk\n"))
    #expect(daemon.stop() == 0)
  }

  @Test func whyReportsOriginOfValue() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "x")
    try daemon.run("move", "1", "5,5")
    try daemon.run("color", "1", "pink", author: "bob@test")
    let revision = try revision(daemon)
    let why = try daemon.run("why", "1.color")
    #expect(why.lines.first == "pink")
    #expect(why.output.contains("set by bob@test, "))
    #expect(why.output.contains(", revision \(revision)\n  replaced: yellow\n"))
    let json = try daemon.run("why", "1.x", "--json").json()
    #expect(json["value"] == .integer(5))
    #expect(json["replaced"] == .integer(0))
    #expect(json["author"] == .string("ann@test"))
    #expect(json["kind"] == .string("updated"))
    #expect(json["lost"] == .array([]))
    #expect(json["transaction"]?["sequence"]?.integerValue != nil)
    try daemon.run("delete", "1")
    #expect(try daemon.run("why", "1.color").output.contains("the object was deleted in revision"))
    #expect(try daemon.run("why", "1.colour").errors.contains("Did you mean \"color\"?"))
    #expect(try daemon.run("why", "1.colour").status == 64)
    #expect(try daemon.run("why", "7.color").status == 4)
    #expect(try daemon.run("why", "1").status == 64)
    #expect(daemon.stop() == 0)
  }

  @Test func diffComparesTwoStates() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    try daemon.run("add", "two")
    let then = try revision(daemon)
    try daemon.run("move", "1", "5,0")
    try daemon.run("delete", "2")
    try daemon.run("add", "three")
    let text = try daemon.run("diff", then).output
    #expect(text.contains("~ #1 one\n"))
    #expect(text.contains("    x: 0 → 5\n"))
    #expect(text.contains("- #2 two\n"))
    #expect(text.contains("+ #3 three\n"))
    let lines = try daemon.run("diff", then, "--json").lines.map { try JSON(parsing: $0) }
    #expect(lines.count == 3)
    let moved = try #require(lines.first { $0["kind"] == .string("updated") })
    #expect(moved["changed"]?["x"]?["from"] == .integer(0))
    #expect(moved["changed"]?["x"]?["to"] == .integer(5))
    #expect(try daemon.run("diff", "#2", then, "--json").lines.count == 1)
    #expect(try daemon.run("diff", "1", then, try revision(daemon), "--json").lines.count == 1)
    let nothing = try daemon.run("diff", then, then)
    #expect(nothing.output.isEmpty)
    #expect(nothing.status == 0)
    #expect(try daemon.run("diff", "4711").status == 4)
    #expect(try daemon.run("diff").status == 64)
    #expect(try daemon.run("diff", "1", "2", "3", "4").status == 64)
    #expect(daemon.stop() == 0)
  }

  @Test func logFiltersRunInDaemon() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    try daemon.run("add", "two", "--tag", "t", author: "bob@test")
    try daemon.run("move", "1", "5,0", author: "bob@test")
    func revisions(_ arguments: String...) throws -> [Int64] {
      let result = try Daemon.run(
        ["log", "--json"] + arguments, server: daemon.socket.description, author: "ann@test", input: nil)
      #expect(result.status == 0, "\(result.errors)")
      return try result.json().arrayValue?.compactMap { $0["revision"]?.integerValue } ?? []
    }
    #expect(try revisions("--author", "bob@test") == [3, 2])
    #expect(try revisions("--author", "nobody") == [])
    #expect(try revisions("--entity", "Tag") == [2])
    #expect(try revisions("--object", "1", "--oldest-first") == [1, 3])
    #expect(try revisions("--object", "1", "--author", "ann@test") == [1])
    #expect(try revisions("--after", "1", "--until", "2") == [2])
    #expect(try revisions("--since", "2000-01-01T00:00:00Z", "--oldest-first", "--limit", "2") == [1, 2])
    #expect(try revisions("--until", "2000-01-01T00:00:00Z") == [])
    let tags = try daemon.run("log", "--entity", "Tag", "--json").json()
    #expect(tags[0]?["changes"]?.count == 1)
    // The requested number of changes of each commit, and how many more there are.
    let all = try daemon.run("log", "--until", "2", "--limit", "1", "--json").json()[0]
    let count = try #require(all?["changes"]?.count)
    #expect(count > 1 && all?["more"] == nil)
    let cut = try daemon.run("log", "--until", "2", "--limit", "1", "--json", "--changes", "1").json()[0]
    #expect(cut?["changes"]?.count == 1 && cut?["more"] == .integer(Int64(count - 1)))
    #expect(cut?["changes"]?[0] == all?["changes"]?[0])
    let lines = try daemon.run("log", "--until", "2", "--limit", "1", "--changes", "1").lines
    #expect(lines.count == 3 && lines.last == "    … and \(count - 1) more", "\(lines)")
    let none = try daemon.run("log", "--until", "2", "--limit", "1", "--changes", "0").lines
    #expect(none.count == 2 && none.last == "    \(count) changes", "\(none)")
    #expect(try daemon.run("log", "--changes", "-1").status == 64)
    #expect(try daemon.run("log", "--entity", "Tga").status == 64)
    #expect(try daemon.run("log", "--since", "soon").status == 64)
    #expect(daemon.stop() == 0)
  }

  // MARK: - Following

  @Test func killedFollowerContinuesAfterItsLastToken() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    try daemon.run("add", "two")
    let follower = try Watcher(daemon, command: ["follow"], "--since", "0")
    let first = try follower.next()
    #expect(first["changes"]?.count == 2)
    let token = try #require(try follower.next()["token"]?.stringValue)
    try daemon.run("add", "three")
    #expect(try follower.next()["revision"] == .integer(3))
    follower.kill()
    try daemon.run("add", "four")
    let second = try Watcher(daemon, command: ["follow"], "--since", token)
    #expect(try second.next()["revision"] == .integer(3))
    #expect(try second.next()["revision"] == .integer(4))
    second.kill()
    let rest = try daemon.run("follow", "--since", token, "--until-now")
    #expect(rest.status == 0)
    #expect(rest.lines.count == 2)
    let end = try #require(try JSON(parsing: rest.lines[1])["token"]?.stringValue)
    #expect(try daemon.run("follow", "--since", end, "--until-now").output.isEmpty)
    // A commit that does not match advances the token anyway.
    let nothing = try daemon.run("follow", "--since", "0", "--until-now", "--entity", "Link")
    #expect(try nothing.json() == .object([.init("token", .string(end))]))
    #expect(try daemon.run("follow", "--since", "0", "--until-now", "--author", "bob@test").lines.count == 1)
    #expect(daemon.stop() == 0)
  }

  @Test func tokenOfOtherStoreIsRefused() throws {
    let (daemon, other) = (try Daemon(), try Daemon())
    try daemon.start()
    try other.start()
    try daemon.run("add", "one")
    try other.run("add", "one")
    let token = try JSON(parsing: try #require(try daemon.run("follow", "--since", "0", "--until-now").lines.first))
    let text = try #require(token["token"]?.stringValue)
    let refused = try other.run("follow", "--since", text, "--until-now")
    #expect(refused.status == 4)
    #expect(refused.errors.contains("the token is of another store"))
    var foreign = try #require(Token(text))
    foreign.fingerprint ^= 1
    let restored = try daemon.run("follow", "--since", foreign.description)
    #expect(restored.status == 4)
    #expect(restored.errors.contains("restored from a backup"))
    #expect(try daemon.run("follow", "--since", "nonsense").status == 64)
    #expect(try daemon.run("follow", "--since", "4711").status == 4)
    #expect(daemon.stop() == 0)
    #expect(other.stop() == 0)
  }

  @MainActor
  @Test func followSurvivesDaemonRestart() async throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    let client = try await Stickies.connect(to: daemon.socket, author: "zoe@test")
    let head = try #require(client.welcome?.head)
    let beginning = Token(store: head.store, revision: 0, fingerprint: 0)
    var commits = client.commits(since: beginning).makeAsyncIterator()
    #expect(try await commits.next()?.commit?.revision == 1)
    daemon.kill()
    try daemon.start()
    try daemon.run("add", "two")
    let second = try #require(try await commits.next())
    #expect(second.commit?.revision == 2)
    #expect(second.commit?.author == "ann@test")
    try daemon.run("add", "three")
    #expect(try await commits.next()?.token.revision == 3)
    // Another reader continues from each of the tokens, while other requests read the past.
    var found = [Revision]()
    for try await commit in client.commits(since: second.token, untilNow: true) { found.append(commit.token.revision) }
    #expect(found == [3])
    let note = try #require(try await client.fetch(Note.self, where: "number == 1").first)
    let text = try #require(client.context.model.entity(named: "Note")?.property(named: "text"))
    #expect(try await client.why(text, of: note.id).author == "ann@test")
    var changed = [ObjectDifference]()
    for try await part in client.differences(DifferenceRequest(from: 1)) { changed += part }
    #expect(changed.map(\.kind) == [.inserted, .inserted])
    _ = try await client.restoreEverything(at: 1)
    #expect(try await client.count(of: Note.self) == 1)
    await client.close()
    #expect(daemon.stop() == 0)
  }

  // MARK: - Any model

  @Test func historyCommandsWorkWithAnyModel() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let ann = try company.person("Ann", in: department)
    try company.run("update", ann, "name=Anna", author: "bob@test")
    let why = try company.run("why", "\(ann.prefix(10)).name", "--json").json()
    #expect(why["value"] == .string("Anna"))
    #expect(why["replaced"] == .string("Ann"))
    #expect(why["author"] == .string("bob@test"))
    #expect(try company.run("diff", ann, "2", "--json").json()["changed"]?["name"]?["to"] == .string("Anna"))
    let restored = try company.run("restore", ann, "--at", "2", "--json").json()
    #expect(restored["changes"]?[0]?["object"]?["name"] == .string("Ann"))
    #expect(try company.run("log", "--object", ann, "--json").json().count == 3)
    let inverse = try company.run("why", "\(department).staff")
    #expect(inverse.status == 64)
    #expect(inverse.errors.contains("ask for Person.department"))
    #expect(company.daemon.stop() == 0)
  }
}
