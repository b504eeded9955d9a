import Foundation
import GraphModel
import GraphTesting
import Testing

/// Imports of files with values that the model can't represent, and repeated imports.
@Suite struct ImportTests {
  private static func write(_ lines: [String], to daemon: Daemon, _ name: String = "in.jsonl") throws -> String {
    let path = daemon.home.path + "/" + name
    try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  private static func reasons(_ result: JSON) -> [String] {
    (result["skipped"]?.arrayValue ?? []).map {
      "\($0["file"]?.stringValue ?? "") \($0["reason"]?.stringValue ?? "")"
    }
  }

  @Test func unimportablePartOfNoteIsReportedAndNoteImported() throws {
    let daemon = try Daemon()
    try daemon.start()
    let path = try Self.write(
      [
        #"{"entity":"Board","id":"b1","name":"Plans","color":"mauve"}"#,
        #"{"entity":"Note","id":"n1","board":"b1","text":"one","color":"mauve","x":"left","tags":["t9"],"y":7}"#,
        #"{"entity":"Note","id":"n2","board":"b1","text":"two","created":"yesterday"}"#,
        #"{"entity":"Link","id":"l1","from":"n1","to":"n3"}"#,
        #"{"entity":"Tag","id":"t1"}"#,
      ], to: daemon)
    let result = try daemon.run("import", path, "--json").json()
    #expect(result["imported"] == .integer(2))
    let colors = "enumeration (yellow, blue, green, pink, purple, gray, orange, red, teal, brown, white)"
    #expect(
      Self.reasons(result) == [
        "in.jsonl:1 the board was imported without its color: \"mauve\" is not a valid \(colors)",
        "in.jsonl:2 the note was imported without its color: \"mauve\" is not a valid \(colors); "
          + "its x: \"left\" is not a valid double; its tags: \"t9\" is not in the file",
        "in.jsonl:3 the note was imported without its created: \"yesterday\" is not a valid date",
        "in.jsonl:5 the tag has no name",
        "in.jsonl:4 the file does not hold both notes of the link",
      ])
    let note = try daemon.run("list", "--where", "text == \"one\"", "--json").json()[0]
    #expect(note?["color"] == .string("yellow"))
    #expect(note?["x"] == .integer(0))
    #expect(note?["y"] == .integer(7))
  }

  @Test func unknownIDIsReportedAndRestImported() throws {
    let daemon = try Daemon()
    try daemon.start()
    let id = "a0000000000000000000000000"
    let path = try Self.write(
      [
        #"{"entity":"Board","id":"b1","name":"Plans"}"#,
        #"{"entity":"Note","id":"\#(id)","board":"b1","text":"one"}"#,
        #"{"entity":"Note","id":"n2","board":"b1","text":"two"}"#,
      ], to: daemon)
    let result = try daemon.run("import", path, "--json").json()
    #expect(Self.reasons(result) == ["in.jsonl:2 \"\(id)\" is not an object's id"])
    #expect(try daemon.run("list", "--json").json().arrayValue?.map { $0["text"]?.stringValue } == ["two"])
    #expect(daemon.stop() == 0)
  }

  @Test func invalidValueRefusesOnlyItsNote() throws {
    let daemon = try Daemon()
    try daemon.start()
    let long = String(repeating: "n", count: 201)
    let path = try Self.write(
      [
        #"{"entity":"Board","id":"b1","name":"Plans"}"#, #"{"entity":"Board","id":"b2","name":"\#(long)"}"#,
        #"{"entity":"Note","id":"n1","board":"b1","text":"one","width":0}"#,
        #"{"entity":"Note","id":"n2","board":"b2","text":"two"}"#,
        #"{"entity":"Note","id":"n3","board":"b1","text":"three"}"#,
        #"{"entity":"Link","id":"l1","from":"n1","to":"n3","label":"\#(long)"}"#,
      ], to: daemon)
    let result = try daemon.run("import", path, "--json").json()
    #expect(result["imported"] == .integer(2))
    #expect(
      Self.reasons(result) == [
        "in.jsonl:3 the note was imported without its width: it is less than 1",
        "in.jsonl:4 the name of its board, \"\(long.prefix(60))…\", has 201 bytes; the maximum is 200",
        "in.jsonl:6 the link was imported without its label: it has 201 bytes; the maximum is 200",
      ])
    #expect(try daemon.run("graph", "fetch", "Link", "--count").output == "1\n")
  }

  /// More notes than one transaction holds: links stay with their notes, and one undo reverts everything.
  @Test func largeImportIsSplitIntoCommits() throws {
    let daemon = try Daemon()
    try daemon.start()
    let text = String(repeating: "many words ", count: 95_000)
    var lines = [#"{"entity":"Board","id":"b1","name":"Plans"}"#, #"{"entity":"Tag","id":"t1","name":"big"}"#]
    lines += (0..<20).map {
      #"{"entity":"Note","id":"n\#($0)","board":"b1","text":"\#($0) \#(text)","tags":["t1"]}"#
    }
    lines += (1..<20).map { #"{"entity":"Link","id":"l\#($0)","from":"n\#($0)","to":"n\#($0 - 1)"}"# }
    let path = try Self.write(lines, to: daemon)
    let result = try daemon.run("import", path, "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.json()["imported"] == .integer(20))
    #expect(try daemon.run("status", "--json").json()["revision"] == .integer(3))
    let notes = try #require(try daemon.run("list", "--board", "Plans", "--json").json().arrayValue)
    #expect(notes.count == 20 && notes.allSatisfy { $0["tags"]?.count == 1 })
    #expect(try daemon.run("graph", "fetch", "Link", "--count").output == "19\n")
    // The second run imports nothing.
    #expect(try daemon.run("import", path, "--json").json()["unchanged"] == .integer(20))
    #expect(try daemon.run("status", "--json").json()["revision"] == .integer(3))
    #expect(try daemon.run("undo").status == 0)
    for entity in ["Note", "Link", "Tag", "Board"] {
      #expect(try daemon.run("graph", "fetch", entity, "--count").output == "0\n")
    }
    #expect(daemon.stop() == 0)
  }

  @Test func unknownKeepColorIsReported() throws {
    let daemon = try Daemon()
    try daemon.start()
    let path = try Self.write(
      [#"{"color":"MAUVE","textContent":"x","createdTimestampUsec":1600000000000000}"#], to: daemon, "n.json")
    let result = try daemon.run("import", path, "--json").json()
    #expect(result["imported"] == .integer(1))
    #expect(Self.reasons(result) == ["n.json the note was imported in white: \"MAUVE\" is not a Keep color"])
  }

  @Test func emptyBoardIsImported() throws {
    let (one, two) = (try Daemon(), try Daemon())
    try one.start()
    try two.start()
    try one.run("add", "a note")
    let first = try Self.write(one.run("export").lines, to: one)
    #expect(try two.run("import", first, "--json").json()["imported"] == .integer(1))
    try one.run("board", "add", "Empty", "--color", "teal")
    let second = try Self.write(one.run("export").lines, to: one)
    for _ in 0..<2 {
      #expect(try two.run("import", second, "--json").json()["unchanged"] == .integer(1))
      let boards = try two.run("board", "--json").json().arrayValue ?? []
      #expect(boards.map { $0["name"] } == [.string("Notes"), .string("Empty")])
      #expect(boards.last?["color"] == .string("teal"))
    }
    #expect(try two.run("log", "--json").json().arrayValue?.count == 2, "a run that brings nothing commits nothing")
    // A note that was renamed here is not created again under its old name.
    try one.run("board", "rename", "Empty", "Void")
    try one.run("board", "rename", "Notes", "Paper")
    try one.run("delete", "1")
    #expect(try one.run("import", second, "--json").json()["imported"] == .integer(1))
    let boards = try one.run("board", "--json").json()
    #expect(boards.arrayValue?.map { $0["name"] } == [.string("Paper"), .string("Void")])
    #expect(try one.run("show", "2", "--json").json()["board"] == boards[0]?["id"])
  }

  @Test func canonicallyEquivalentOriginsAndBoardsAreDistinct() throws {
    let daemon = try Daemon()
    try daemon.start()
    let lines = try Self.write(
      [
        #"{"entity":"Board","id":"b1","name":"caf\u00e9"}"#, #"{"entity":"Board","id":"b2","name":"cafe\u0301"}"#,
        #"{"entity":"Note","id":"n1","board":"b1","text":"one","origin":"x:caf\u00e9"}"#,
        #"{"entity":"Note","id":"n2","board":"b2","text":"two","origin":"x:cafe\u0301"}"#,
      ], to: daemon)
    let result = try daemon.run("import", lines, "--json").json()
    #expect(result["imported"] == .integer(2) && result["unchanged"] == .integer(0))
    let notes = try daemon.run("list", "--json").json().arrayValue ?? []
    #expect(Set(notes.compactMap { $0["board"]?.stringValue }).count == 2)
    let again = try daemon.run("import", lines, "--json").json()
    #expect(again["imported"] == .integer(0) && again["unchanged"] == .integer(2))
    // Labels of lines are distinguished as well.
    let labels = [
      #"{"$entity":"Tag","$id":"caf\u00e9","name":"one"}"#, #"{"$entity":"Tag","$id":"cafe\u0301","name":"two"}"#,
    ].joined(separator: "\n")
    let inserted = try daemon.run("graph", "insert", "Tag", "-", input: labels + "\n")
    #expect(inserted.status == 0, "\(inserted.errors)")
  }

  @Test func loneSurrogateBecomesOneReplacementCharacter() throws {
    let daemon = try Daemon()
    try daemon.start()
    let lines = try Self.write(
      [
        #"{"entity":"Board","id":"b1","name":"Plans"}"#,
        #"{"entity":"Note","id":"n1","board":"b1","text":"cut \ud83d"}"#,
        #"{"entity":"Note","id":"n2","board":"b1","text":"whole \ud83d\ude00"}"#,
      ], to: daemon)
    let keep = try Self.write(
      [#"{"textContent":"\ude00 cut","createdTimestampUsec":1600000000000000}"#], to: daemon, "k.json")
    let result = try daemon.run("import", lines, keep, "--json").json()
    #expect(result["imported"] == .integer(3))
    let reason = "1 letter was half a surrogate pair or not UTF-8 and became \u{FFFD}"
    #expect(Self.reasons(result) == ["in.jsonl:2 \(reason)", "k.json \(reason)"])
    let texts = try daemon.run("list", "--json").json().arrayValue?.compactMap { $0["text"]?.stringValue } ?? []
    #expect(texts.sorted() == ["cut \u{FFFD}", "whole 😀", "\u{FFFD} cut"])
  }

  /// Two lines of one id: a copy is the same note, and another text is reported instead of counted as unchanged.
  @Test func secondContentsOfANoteAreReported() throws {
    let daemon = try Daemon()
    try daemon.start()
    let board = #"{"entity":"Board","id":"b1","name":"Plans"}"#
    func note(_ text: String) -> String { #"{"entity":"Note","id":"n1","board":"b1","text":"\#(text)"}"# }
    let first = try Self.write([board, note("one"), note("one"), note("other")], to: daemon, "a.jsonl")
    let second = try Self.write([board, note("one"), note("third")], to: daemon, "b.jsonl")
    for imported: Int64 in [1, 0] {
      let result = try daemon.run("import", first, second, "--json").json()
      let reason = "a.jsonl:2 is the same note with other contents, so this one was left out"
      #expect(Self.reasons(result) == ["a.jsonl:4 \(reason)", "b.jsonl:3 \(reason)"])
      #expect(result["imported"] == .integer(imported) && result["unchanged"] == .integer(3 - imported))
    }
  }

  @Test func fileThatIsNotANoteIsReportedWithAdvice() throws {
    let daemon = try Daemon()
    try daemon.start()
    let home = daemon.home.path
    func folder(_ name: String, _ files: [String: [UInt8]]) throws -> String {
      try FileManager.default.createDirectory(atPath: "\(home)/\(name)", withIntermediateDirectories: true)
      for (file, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: "\(home)/\(name)/\(file)")) }
      return "\(home)/\(name)"
    }
    let zip: [UInt8] = [0x50, 0x4B, 3, 4, 0, 0]
    let nothing = "nothing in this folder can be imported: no .json, .jsonl or .rtfd"
    let unpack = "unpack it, and import the folder of the notes in it, such as Takeout/Keep"
    let empty = try folder("empty", [:])
    let takeout = try folder("all", [:])
    _ = try folder("all/Takeout/Keep", [:])
    let archives = try folder("archives", ["takeout-1.ZIP": zip])
    let odd = try folder("odd", ["a.json": zip, "b.JSON": [0x1F, 0x8B], "c.json": Array("<!DOCTYPE html>".utf8)])
    let result = try daemon.run("import", empty, takeout, archives, odd, archives + "/takeout-1.ZIP", "--json").json()
    #expect(
      Self.reasons(result) == [
        "\(empty) \(nothing); name the folder that holds the notes, such as Takeout/Keep: folders in it are not searched",
        "\(takeout) \(nothing); import \(takeout)/Takeout/Keep",
        "\(archives) \(nothing); unpack takeout-1.ZIP, and import the folder of the notes in it",
        "a.json this is a zip archive; \(unpack)", "b.JSON this is a gzip archive; \(unpack)",
        "c.json this is a web page, not JSON; Takeout writes a .json file beside it",
        "takeout-1.ZIP this is a zip archive; \(unpack)",
      ])
  }

  @Test func fileExtensionIgnoresCase() throws {
    let daemon = try Daemon()
    try daemon.start()
    _ = try Self.write([#"{"textContent":"x","createdTimestampUsec":1600000000000000}"#], to: daemon, "A.JSON")
    _ = try Self.write(
      [#"{"entity":"Board","id":"b1","name":"Plans"}"#, #"{"entity":"Note","id":"n1","board":"b1"}"#], to: daemon,
      "B.JSONL")
    #expect(try daemon.run("import", daemon.home.path, "--json").json()["imported"] == .integer(2))
  }

  @Test func exportsForOtherCommandsGetAdvice() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "x")
    let (folder, graph) = (daemon.home.path + "/notes", daemon.home.path + "/graph.jsonl")
    try daemon.run("export", "--board", "Notes", "--to", folder)
    try daemon.run("graph", "export", graph)
    let result = try daemon.run("import", folder, graph).output
    #expect(result.contains("send its edits with: stickies sync-folder \(folder)\n"), "\(result)")
    #expect(result.contains("skipped graph.jsonl: this is an export of a whole graph; stickies graph import"))
    #expect(result.hasSuffix("imported 0, unchanged 0, skipped 2\n"))
    #expect(daemon.stop() == 0)
  }

  @Test func mutualImportsDuplicateNothing() throws {
    let (one, two) = (try Daemon(), try Daemon())
    try one.start()
    try two.start()
    try one.run("add", "of one")
    try two.run("add", "of two")
    for round in 0..<3 {
      for (from, to) in [(one, two), (two, one)] {
        let file = try Self.write(from.run("export").lines, to: to)
        #expect(try to.run("import", file, "--json").json()["imported"] == .integer(round == 0 ? 1 : 0))
        #expect(try to.run("list", "--json").json().count == 2)
      }
    }
  }

  @Test func importedNotesWithoutPositionDoNotOverlap() throws {
    let daemon = try Daemon()
    try daemon.start()
    let board = #"{"entity":"Board","id":"b1","name":"Plans"}"#
    func note(_ id: Int, _ more: String = "") -> String {
      #"{"entity":"Note","id":"n\#(id)","board":"b1","text":"\#(id)"\#(more)}"#
    }
    let first = try Self.write([board, note(0, #","x":-50,"y":10"#)] + (1...8).map { note($0) }, to: daemon)
    try daemon.run("import", first)
    let second = try Self.write([board] + (9...12).map { note($0) }, to: daemon, "more.jsonl")
    try daemon.run("import", second)
    let notes = try daemon.run("list", "--json").json().arrayValue ?? []
    let places = notes.compactMap { note -> (Double, Double)? in
      guard let x = note["x"].flatMap({ Double($0.text) }), let y = note["y"].flatMap({ Double($0.text) }) else {
        return nil
      }
      return (x, y)
    }
    #expect(places.count == 13)
    for (index, (x, y)) in places.enumerated() {
      #expect(!places[..<index].contains { abs($0.0 - x) < 200 && abs($0.1 - y) < 200 }, "note \(index)")
    }
    #expect(places.contains { $0 == (-50, 10) }, "a place that the file names stays")
  }
}
