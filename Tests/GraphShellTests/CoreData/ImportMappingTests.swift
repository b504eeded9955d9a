import CoreDataStore
import Foundation
import GraphModel
import GraphTesting
import Testing

@testable import GraphShell

/// The file of an import's mapping: read again, cut off, locked, of another store.
@Suite struct ImportMappingTests {
  private static let target = UniqueID(high: 1, low: 2)
  private let folder: TemporaryDirectory
  private var path: String { folder.path + "/mapping" }

  init() throws { folder = try TemporaryDirectory() }

  private func open(source: String = "S", target: UniqueID = Self.target) throws -> ImportMappingFile {
    try ImportMappingFile(path, source: source, target: target)
  }

  private func refusal() throws -> Refusal {
    try #require(throws: Refusal.self) { try open() }
  }

  private let red = ImportMapping.Key(root: "Tag", key: 1)
  private let blue = ImportMapping.Key(root: "Tag", key: 2)
  private let row = ImportMapping.Row(
    entity: "Tag", version: 3, revision: 5,
    sent: [
      "name": .value(0xFEDC_BA98_7654_3210), "color": .nothing, "owner": .object(.init(root: "Tag", key: 4)),
      "notes": .members([.init(root: "Note", key: 1), .init(root: "Note", key: 2)]),
      "places": .list([.init(root: "Note", key: 2), .init(root: "Note", key: 1)]), "none": .list([]),
    ])
  private let id = UniqueID(high: 9, low: 8)

  private func contents() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test func eventsAreReadAgain() throws {
    do {
      let file = try open()
      try file.record([.sending(.init(replica: id, user: nil, after: 4, rows: [(red, row), (blue, row)]))])
      #expect(file.mapping.sending?.rows.count == 2)
      try file.record([.row(red, id: id, row), .row(blue, id: Self.target, row), .settled(5)])
      try file.record([.gone(blue), .settled(nil)])
    }
    let mapping = try open().mapping
    #expect(mapping.rows.count == 1)
    #expect(mapping.rows[red]?.id == id && mapping.rows[red]?.row == row)
    #expect(mapping.keys == [id: red])
    #expect(mapping.sending == nil && mapping.revision == 5)
    #expect(mapping.source == "S" && mapping.target == Self.target)
  }

  /// The last event has all of them.
  @Test func decisionsAreReadAgain() throws {
    var decisions = StoreLayout.Decisions()
    decisions.tags = ["Tag.icon": true, "Tag.image": true]
    try open().record([.decided(decisions)])
    decisions.tags = ["Tag.icon": false]
    (decisions.columns, decisions.version) = (["Tag.name": "ZNAME1"], .max)
    try open().record([.decided(decisions)])
    #expect(try open().mapping.decisions == decisions)
  }

  @Test func modelIsReadAgain() throws {
    #expect(try open().mapping.model == nil)
    for name in ["1 ab", "2 cd"] {
      try open().record([.model(name)])
      #expect(try open().mapping.model == name)
    }
  }

  @Test func unsettledCommitIsKept() throws {
    for user in ["ann", nil] {
      try open().record([.sending(.init(replica: id, user: user, after: 4, rows: [(red, row)]))])
      #expect(try #require(try open().mapping.sending).user == user)
    }
    let sending = try #require(try open().mapping.sending)
    #expect(sending.replica == id && sending.after == 4)
    #expect(sending.rows.map(\.key) == [red] && sending.rows.map(\.row) == [row])
  }

  /// Wherever a kill cuts the file off, the complete lines count.
  @Test func incompleteLineIsDropped() throws {
    try open().record([.row(red, id: id, row), .settled(5)])
    let text = try contents()
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 4)
    let head = lines[0].utf8.count + 1
    for count in 0..<text.utf8.count {
      try Data(text.utf8.prefix(count)).write(to: URL(fileURLWithPath: path))
      let mapping = try open().mapping
      #expect(mapping.rows.isEmpty == (count < head + lines[1].utf8.count + 1), "\(count) bytes")
      #expect(mapping.revision == 0)
      // The next event does not continue the incomplete line.
      try open().record([.settled(7)])
      #expect(try open().mapping.revision == 7)
    }
  }

  @Test func mappingOfAnotherStoreOrGraphIsRefused() throws {
    _ = try open()
    let source = try #require(throws: ProgramRefusal.self) { try open(source: "T") }
    #expect(source.message.contains("belongs to another Core Data store (S), and this one is T"))
    let target = UniqueID(high: 1, low: 3)
    let graph = try #require(throws: ProgramRefusal.self) { try open(target: target) }
    #expect(graph.message.contains("belongs to another graph"))
  }

  @Test func otherFileIsNotChanged() throws {
    for text in [
      "hello", "hello\n", "{\"$graph\":\"x\"}\n", "{\"coreData\":\"S\",\"format\":1,\"store\":\"\(Self.target)\"}\n",
    ] {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      let refusal = try refusal()
      #expect(refusal.code == .malformed && refusal.message.contains("line 1"), "\(refusal.message)")
      #expect(try contents() == text)
    }
    #expect(try refusal().message.contains("it has format 1; this program reads format 2"))
  }

  @Test func unreadableLineIsNamed() throws {
    try open().record([.settled(5)])
    for line in [
      "{\"row\":[\"Tag\",1]}", "{\"gone\":[1]}", "{", "{\"unknown\":1}", "{\"sending\":{\"after\":1}}",
      #"{"row":["T",1],"id":"\#(id)","entity":"T","version":1,"revision":1,"sent":{"a":{"list":[1]}}}"#,
      #"{"row":["T",1],"id":"\#(id)","entity":"T","version":1,"revision":1,"sent":{"a":[]}}"#,
      #"{"row":["T",1],"id":"\#(id)","entity":"T","version":1,"revision":1,"sent":{"a":"g"}}"#,
    ] {
      let text = try contents()
      try (text + line + "\n").write(toFile: path, atomically: true, encoding: .utf8)
      #expect(try refusal().message.contains("line 3 of the mapping"), "\(line)")
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
  }

  @Test func mappingInUseIsRefused() throws {
    let file = try open()
    #expect(try refusal().message == "another import is using the mapping \(path)")
    withExtendedLifetime(file) {}
  }

  @Test func fileThatCanNotBeWrittenIsRefused() throws {
    let missing = try #require(throws: Refusal.self) {
      try ImportMappingFile(folder.path + "/no/mapping", source: "S", target: Self.target)
    }
    #expect(missing.code == .unavailable && missing.message.contains("--mapping"))
    let device = try #require(throws: ProgramRefusal.self) {
      try ImportMappingFile("/dev/null", source: "S", target: Self.target)
    }
    #expect(device.message.contains("is not a regular file"))
  }

  private static func names(_ lines: [ImportMapping.Line]) -> [String] {
    lines.compactMap { line in
      guard case .root(let name, let key) = line else { return nil }
      return "\(name)=\(key)"
    }
  }

  /// An entity that is renamed twice keeps its first name, and an entity that takes a free name gets another.
  @Test func renamedRootKeepsItsKeys() throws {
    let label = ["Label": ["Tag"], "Mark": ["Label"]]
    do {
      let file = try open()
      try file.record([.row(red, id: id, row), .settled(5)])
      #expect(file.mapping.rootLines(["Note", "Tag"], holders: [:]) { label[$0, default: []] }.isEmpty)
      let lines = file.mapping.rootLines(["Label", "Note"], holders: [:]) { label[$0, default: []] }
      #expect(Self.names(lines) == ["Label=Tag"])
      try file.record(lines)
    }
    let mapping = try open().mapping
    #expect(mapping.roots == ["Label": "Tag"])
    #expect(mapping.rootLines(["Label", "Note"], holders: [:]) { label[$0, default: []] }.isEmpty)
    #expect(Self.names(mapping.rootLines(["Mark"], holders: [:]) { label[$0, default: []] }) == ["Mark=Tag"])
    // Another entity with the name of the first one.
    #expect(Self.names(mapping.rootLines(["Label", "Tag"], holders: [:]) { label[$0, default: []] }) == ["Tag=Tag 2"])
  }

  /// The objects show what an entity is called now, where the names show nothing, or mislead.
  @Test func rootKeepsTheKeysOfItsObjects() throws {
    let file = try open()
    try file.record([.row(red, id: id, row), .row(.init(root: "Note", key: 1), id: id, row)])
    func names(
      _ names: [String], _ holders: [String: [String]], earlier: [String: [String]] = [:]
    ) -> [String] {
      Self.names(file.mapping.rootLines(names, holders: holders) { earlier[$0, default: []] })
    }
    // Renamed twice, and then with a new entity that has the first name.
    #expect(names(["Mark", "Note"], ["Note": ["Note"], "Tag": ["Mark"]]) == ["Mark=Tag"])
    #expect(names(["Mark", "Note", "Tag"], ["Note": ["Note"], "Tag": ["Mark"]]) == ["Mark=Tag", "Tag=Tag 2"])
    // An entity has taken the name that another one had.
    #expect(names(["Mark", "Tag"], ["Note": ["Tag"], "Tag": ["Mark"]]) == ["Mark=Tag", "Tag=Note"])
    // The graph has the objects of two entities in one table.
    #expect(names(["Mark", "Tag"], ["Tag": ["Mark", "Tag"]]).isEmpty)
    let both = ["Tag": ["Label", "Mark"]]
    #expect(names(["Label", "Mark"], both).isEmpty)
    #expect(names(["Label", "Mark"], both, earlier: ["Mark": ["Tag"]]) == ["Mark=Tag"])
    // Renamed, and renamed back; a new entity has the name in between.
    try file.record([.root("Label", key: "Tag")])
    #expect(names(["Note", "Tag"], ["Tag": ["Tag"]]).isEmpty)
    #expect(names(["Label", "Note", "Tag"], ["Tag": ["Tag"]]) == ["Label=Label 2"])
  }
}
