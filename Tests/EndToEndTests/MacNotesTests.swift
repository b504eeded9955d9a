import Foundation
import GraphModel
import GraphTesting
import Testing

/// Notes in the format of macOS's Stickies, made by the test.
@Suite struct MacNotesTests {
  private static func rtf(_ body: String, _ header: String = "\\ansi\\ansicpg1252\\cocoartf2639") -> String {
    "{\\rtf1\(header)\n{\\fonttbl\\f0\\fswiss\\fcharset0 Helvetica;}\n{\\colortbl;\\red255\\green0\\blue0;}\n\\f0\\fs24 "
      + body + "}"
  }

  private static func window(_ name: String, _ frame: String, _ color: [Double]) -> [String: Any] {
    [
      "UUID": name, "Frame": frame, "Floating": name.hasPrefix("A"), "ZOrder": 1,
      "StickyColor": ["Red": color[0], "Green": color[1], "Blue": color[2], "Alpha": 1.0],
    ]
  }

  /// A folder with four notes, of which two have a window, and with a file that is not a note.
  private static func folder(in home: String, _ format: PropertyListSerialization.PropertyListFormat) throws -> String {
    let folder = home + "/Stickies"
    func put(_ path: String, _ text: String) throws {
      let url = URL(fileURLWithPath: folder + "/" + path)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    try put("A1.rtfd/TXT.rtf", rtf("Caf\\'e9\\\n{\\listtext\t\\uc0\\u8226 \t}milk"))
    try put("B2.rtfd/TXT.rtf", rtf("see {{\\NeXTGraphic photo.png \\width640\n}\\'ac}"))
    try put("B2.rtfd/photo.png", "no picture")
    try put("B2.rtfd/.DS_Store", "x")
    try put("C3.rtfd/TXT.rtf", rtf("{\\cb1 red paper}", "\\mac\\ansicpg10000"))
    try put("D4.rtfd/TXT.rtf", "{\\rtf1 broken")
    try put("E5.rtfd/other", "x")
    try put("F6.rtfd", "x")
    try put("StickiesDatabase", "x")
    try put("notes.txt", "x")
    let windows = [
      window("A1", "{{8, 1110}, {300, 200}}", [0.996, 0.957, 0.612]),
      window("B2", "{{400, 700}, {360, 240}}", [0.68, 0.95, 1]), window("Z9", "{{0, 0}, {1, 1}}", [0, 0, 0]),
    ]
    let list = try PropertyListSerialization.data(fromPropertyList: windows, format: format, options: 0)
    try list.write(to: URL(fileURLWithPath: folder + "/.SavedStickiesState"))
    return folder
  }

  private static func skipped(_ result: JSON) -> [String] {
    (result["skipped"]?.arrayValue ?? []).map {
      "\($0["file"]?.stringValue ?? ""): \($0["reason"]?.stringValue ?? "")"
    }
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
  func repeatedImportOfStickiesFolderAddsNothing(
    format: PropertyListSerialization.PropertyListFormat
  ) throws {
    let daemon = try Daemon()
    try daemon.start()
    let folder = try Self.folder(in: daemon.home.path, format)
    let first = try daemon.run("import", folder, "--json")
    #expect(first.status == 0, "\(first.errors)")
    #expect(try first.json()["imported"] == .integer(3))
    #expect(
      try Self.skipped(first.json()) == [
        "B2.rtfd: the note was imported without its attachment photo.png",
        "C3.rtfd: the note was imported without place: .SavedStickiesState has no entry for it",
        "D4.rtfd: TXT.rtf, line 1: the text ends too early: 1 of its groups are not closed",
        "E5.rtfd: its TXT.rtf can't be read",
        "F6.rtfd: this is not a package: a package is a folder with TXT.rtf",
        "StickiesDatabase: the notes of an older Stickies are not read; open them in a newer one, which makes .rtfd "
          + "packages of them",
      ])
    let notes = try daemon.run("list", "--board", "Stickies", "--json", "--sort", "origin").json()
    #expect(notes.count == 3)
    let (one, two, three) = (try #require(notes[0]), try #require(notes[1]), try #require(notes[2]))
    #expect(one["text"] == .string("Café\n- milk"))
    #expect(one["origin"] == .string("macos:A1"))
    #expect(one["color"] == .string("yellow"))
    #expect(one["pinned"] == .bool(true))
    #expect(["x", "y", "width", "height"].map { one[$0] } == [.integer(8), .integer(0), .integer(300), .integer(200)])
    #expect(two["text"] == .string("see "))
    #expect(two["color"] == .string("blue"))
    // The top edge of this note is at 940, the top edge of the topmost note at 1310.
    #expect(
      ["x", "y", "width", "height"].map { two[$0] } == [.integer(400), .integer(370), .integer(360), .integer(240)])
    #expect(three["text"] == .string("red paper"))
    #expect(three["color"] == .string("red"))
    try daemon.run("color", "1", "green")
    let again = try daemon.run("import", folder, "--json").json()
    #expect(again["imported"] == .integer(0))
    #expect(again["unchanged"] == .integer(3))
    #expect(try daemon.run("show", "1", "--json").json()["color"] == .string("green"))
    #expect(try daemon.run("log", "--json").json().count == 2, "an import is one commit")
  }

  @Test func singlePackageIsImportedWithAdjacentList() throws {
    let daemon = try Daemon()
    try daemon.start()
    let folder = try Self.folder(in: daemon.home.path, .binary)
    let result = try daemon.run("import", folder + "/B2.rtfd/", "--json").json()
    #expect(result["imported"] == .integer(1))
    #expect(try daemon.run("list", "--json").json()[0]?["color"] == .string("blue"))
    let whole = try daemon.run("import", folder, "--json").json()
    #expect(whole["imported"] == .integer(2))
    #expect(whole["unchanged"] == .integer(1))
  }

  @Test func textsAreImportedWithoutReadableList() throws {
    let daemon = try Daemon()
    try daemon.start()
    let folder = try Self.folder(in: daemon.home.path, .binary)
    try Data("<plist>".utf8).write(to: URL(fileURLWithPath: folder + "/.SavedStickiesState"))
    let result = try daemon.run("import", folder, "--json").json()
    #expect(result["imported"] == .integer(3))
    #expect(
      Self.skipped(result).first
        == ".SavedStickiesState: it is not a property list of windows; the notes were imported without color and place")
  }

  @Test func undecodableCharacterIsReportedAndNoteImported() throws {
    let daemon = try Daemon()
    try daemon.start()
    let folder = daemon.home.path + "/Stickies"
    let bodies = [
      "JA": #"\f1 \'8c\'8b\'89\'ca\'81\'41\'83\'52\'81\'5b\'83\'68 \'81\'ad\f0 end"#,
      "EN": #"Working rules \'97 don\'92t panic\uc0\u8232 caf\'e9"#,
    ]
    for (name, body) in bodies {
      let package = URL(fileURLWithPath: "\(folder)/\(name).rtfd")
      try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
      let text = #"{\rtf1\ansi\ansicpg936{\fonttbl\f0\fcharset0 Helvetica;\f1\fcharset128 Osaka;}\f0 \#(body)}"#
      try Data(text.utf8).write(to: package.appendingPathComponent("TXT.rtf"))
    }
    let result = try daemon.run("import", folder, "--json").json()
    #expect(result["imported"] == .integer(2))
    #expect(
      Self.skipped(result).filter { $0.hasPrefix("JA") || $0.hasPrefix("EN") } == [
        "JA.rtfd: the note was imported without 1 letter that TXT.rtf writes in an unknown way: \u{FFFD} stands there"
      ])
    let texts = try daemon.run("list", "--json", "--sort", "origin").json().arrayValue?.map { $0["text"]?.stringValue }
    #expect(texts == ["Working rules — don’t panic\ncafé", "結果、コード \u{FFFD}end"])
  }
}
