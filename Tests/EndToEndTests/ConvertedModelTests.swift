import Foundation
import GraphTesting
import Testing

/// A Core Data model with two versions, from its bundle to a daemon that serves the migrated store.
@Suite struct ConvertedModelTests {
  private func convert(_ bundle: String, to folder: String) throws {
    let process = Process()
    process.executableURL = Daemon.binary("graph-generate")
    process.arguments = ["convert", bundle, "--output", folder]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test func storeIsMigratedThroughTheVersionsOfABundle() throws {
    let daemon = try Daemon()
    let schema = daemon.home.path + "/Gaps"
    try convert("\(Fixtures.root)/Tests/CoreDataModelsTests/Fixtures/synthetic/Gaps.xcdatamodeld", to: schema)
    // The store begins with the first version.
    try FileManager.default.moveItem(atPath: schema + "/2.json", toPath: schema + "/2.later")
    try daemon.start(["--schema", schema])
    #expect(try daemon.run("graph", "insert", "Owner", "medicalNotes=m").status == 0)
    #expect(try daemon.run("graph", "insert", "Bird", "name=Tweety", "wingSpan=1.5").status == 0)
    #expect(try daemon.run("graph", "insert", "Bird", "name=").status != 0)
    #expect(daemon.stop() == 0)

    try FileManager.default.moveItem(atPath: schema + "/2.later", toPath: schema + "/2.json")
    let migration = try daemon.stickiesd(["migrate", "--schema", schema])
    #expect(migration.status == 0, "\(migration.errors)")
    for line in ["Keeper was called Owner", "Bird.wingspanMetres was called wingSpan", "nothing is lost"] {
      #expect(migration.output.contains(line))
    }

    try daemon.start(["--schema", schema])
    let bird = try daemon.run("graph", "fetch", "Bird", "--where", "wingspanMetres == 1.5", "--count")
    #expect(bird.output == "1\n")
    let keeper = try daemon.run("graph", "fetch", "Keeper", "--where", "animalCount == 0", "--count")
    #expect(keeper.output == "1\n")
    #expect(daemon.stop() == 0)
  }
}
