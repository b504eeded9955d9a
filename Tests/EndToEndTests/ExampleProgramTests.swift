import Foundation
import GraphTesting
import Testing

/// The programs of docs/examples do what their first lines say.
@Suite struct ExampleProgramTests {
  @Test func observedListIsPrintedWhenItChanges() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "Buy milk", "--color", "pink")
    let program = try BackgroundProcess(daemon, [], program: Daemon.binary("observed-list").path)
    try daemon.expectQueries(1)
    try daemon.run("add", "Call Ann", "--color", "pink")
    try daemon.run("add", "Not this one", "--color", "green")
    try daemon.run("edit", "1", "--text", "Buy bread")
    // The server sends all pending answers before it ends the session.
    #expect(daemon.stop() == 0)
    let result = program.end()
    #expect(result.status == 0, "\(result.errors)")
    let lists = result.output.split(separator: "\n").compactMap { $0.split(separator: " ", maxSplits: 1).last }
    let milk = "[\"Buy milk\"]"
    let (both, last) = ("[\"Buy milk\", \"Call Ann\"]", "[\"Buy bread\", \"Call Ann\"]")
    // A busy program may miss a list, never the newest.
    #expect(lists.last.map(String.init) == last, "\(lists)")
    #expect(lists.allSatisfy { [milk, both, last].contains(String($0)) }, "\(lists)")
    #expect(Set(lists).count == lists.count, "a list is printed when it changes: \(lists)")
  }

  @Test func convertedModelReadsImportedStore() throws {
    let daemon = try Daemon()
    let (schema, app) = (daemon.home.path + "/Notes", daemon.home.path + "/app")
    let conversion = Process()
    conversion.executableURL = Daemon.binary("graph-generate")
    let bundle = "drewmccormack+ensembles/Examples/Idiomatic/Shared/Model.xcdatamodeld"
    conversion.arguments = [
      "convert", "\(Fixtures.root)/Tests/CoreDataModelsTests/Fixtures/\(bundle)", "--output", schema, "--name", "Notes",
    ]
    #expect(try conversion.result().status == 0)
    for name in ["1.json", "2.json"] {
      let converted = try String(contentsOfFile: "\(schema)/\(name)", encoding: .utf8)
      #expect(converted == String(decoding: try Fixtures.file("Schema/CoreDataNotes/\(name)"), as: UTF8.self))
    }
    try FileManager.default.createDirectory(atPath: app, withIntermediateDirectories: true)
    for name in ["Notes.sqlite", ".Notes_SUPPORT"] {
      let source = "\(Fixtures.root)/Schema/CoreDataStores/\(name)"
      try FileManager.default.copyItem(atPath: source, toPath: "\(app)/\(name)")
    }
    try daemon.start(["--schema", schema])
    let imported = try daemon.run("graph", "import", "--core-data", "\(app)/Notes.sqlite")
    #expect(imported.status == 0, "\(imported.errors)")

    let program = Process()
    program.executableURL = Daemon.binary("core-data-notes")
    program.arguments = [daemon.socket.description]
    let result = try program.result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.output == """
        n1: Epoch: 2001-01-01T00:00:00Z ["blue", "red"]
        n2: Grüße 🙂 ["blue"]
        n4: no text []
        n5: it's "quoted"; comma, tab\t ["red"]
        3 notes are red

        """)
    #expect(daemon.stop() == 0)
  }
}
