import Foundation
import GraphClient
import GraphEmbedded
import GraphModel
import GraphReplica
import GraphStore
import GraphTesting
import Testing

/// Opening a folder: created files, refusals, and versions of the model.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct EmbeddedFolderTests {
  /// Opens the folder, and expects a failure with advice for the author of a program.
  private func failure(at url: URL, _ model: Model) async throws -> StoreFailure {
    let error = await #expect(throws: StoreFailure.self) { _ = try await GraphClient.embedded(at: url, model: model) }
    let failure = try #require(error)
    #expect(!failure.advice.isEmpty && !failure.advice.contains("--"), "\(failure)")
    return failure
  }

  /// The permissions of a file; nil if there is none.
  private func mode(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
  }

  @Test func missingFolderIsCreatedForItsOwnerOnly() async throws {
    let folder = try EmbeddedFolder()
    let url = folder.directory.url(of: "a/b/graph")
    let client = try await GraphClient.embedded(at: url, model: folder.model)
    #expect(mode(of: url.path) == 0o700)
    for name in ["graph.sqlite", "graph.sqlite-wal", "lock"] {
      #expect(mode(of: url.path + "/" + name) == 0o600, "\(name)")
    }
    await client.close()
  }

  @Test func fileInPlaceOfFolderIsRefused() async throws {
    let folder = try EmbeddedFolder()
    try Data("precious".utf8).write(to: folder.url)
    let file = try await failure(at: folder.url, folder.model)
    #expect(file.code == .inputOutput && file.sentence.contains(folder.path), "\(file)")
    let below = try await failure(at: folder.url.appending(path: "graph"), folder.model)
    #expect(below.sentence.contains(folder.path + "/graph"), "\(below)")
    #expect(try Data(contentsOf: folder.url) == Data("precious".utf8))
  }

  @Test(arguments: ["https://example.org/graph", "relative", "file:///tmp/a%00b"])
  func urlThatIsNoFolderIsRefused(text: String) async throws {
    let url = try #require(URL(string: text))
    let refused = try await failure(at: url, try Fixtures.company())
    #expect(refused.sentence.contains("is not a folder of this computer"), "\(refused)")
  }

  @Test func fileOfAnotherProgramIsRefused() async throws {
    let folder = try EmbeddedFolder()
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: false)
    try Data("precious".utf8).write(to: folder.url.appending(path: "graph.sqlite"))
    #expect(try await failure(at: folder.url, folder.model).code == .notAStore)
    #expect(try Data(contentsOf: folder.url.appending(path: "graph.sqlite")) == Data("precious".utf8))
  }

  @Test func folderThatIsOpenElsewhereIsRefused() async throws {
    let folder = try EmbeddedFolder()
    let other = try SQLiteStore(directory: folder.path, model: folder.model)
    let refused = try await failure(at: folder.url, folder.model)
    #expect(refused.code == .inUse)
    let (path, process) = (StoreFiles.real(folder.path), ProcessInfo.processInfo.processIdentifier)
    #expect(refused.sentence == "the data directory \(path) is in use by process \(process)")
    try other.close()
    #expect(try await folder.titles() == [])
  }

  // MARK: - Models

  @Test func storeOfAnotherModelIsRefusedAndReleased() async throws {
    let folder = try EmbeddedFolder()
    try await folder.open().close()
    let refused = try await failure(at: folder.url, try Fixtures.stickies())
    #expect(refused.code == .modelDiffers)
    #expect(refused.advice.contains("earlierModels"))
    #expect(try await folder.titles() == [])
  }

  @Test func clientOfAnotherModelDoesNotKeepGraphOpen() async throws {
    let folder = try EmbeddedFolder()
    let client = try await folder.open()
    let refusal = await #expect(throws: Refusal.self) { _ = try await folder.open(model: try Fixtures.stickies()) }
    #expect(refusal?.code == .notAllowed)
    _ = try await client.commit([folder.insertion("one")], policy: .error)
    await client.close()
    #expect(folder.failureOfOtherStore() == nil)
  }

  @Test func storeOfEarlierVersionIsMigrated() async throws {
    let folder = try EmbeddedFolder()
    let (first, second) = (try ShopVersions.model(ShopVersions.first), try ShopVersions.model(ShopVersions.second))
    var client = try await folder.open(model: first)
    let shop = try #require(first.entity(named: "Shop"))
    let title = try #require(shop.property(named: "title"))
    _ = try await client.commit(
      [Change(.insert, .temporary(1, entity: shop.number), edits: [Edit(title.number, .set(.string("corner")))])],
      policy: .error)
    await client.close()

    let refused = try await failure(at: folder.url, second)
    #expect(refused.code == .modelDiffers && refused.sentence.contains("has Shop version 1"))
    var options = EmbeddedGraph.Options()
    options.earlierModels = [first]
    client = try await folder.open(model: second, graph: options)
    let served = try #require(second.entity(named: "Shop"))
    #expect(try await client.count(of: served) == 1)
    await client.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.contains { $0.hasPrefix("graph.sqlite.version-1.") && $0.hasSuffix(".backup") }, "\(names)")
    // A second opening has nothing to migrate.
    client = try await folder.open(model: second, graph: options)
    #expect(client.welcome?.model == second.hash)
    await client.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == names.count)
  }

  @Test func refusedMigrationLeavesStoreAndFolderFree() async throws {
    let folder = try EmbeddedFolder()
    func model(_ version: Int, _ type: String) throws -> Model {
      try Model(
        parsing: """
          {"format": 1, "name": "M", "version": \(version), "entities": [
            {"name": "A", "attributes": [{"name": "n", "type": "\(type)"}]}]}
          """.utf8)
    }
    let (first, second) = (try model(1, "data"), try model(2, "date"))
    try await folder.open(model: first).close()
    var options = EmbeddedGraph.Options()
    options.earlierModels = [first]
    let refusal = await #expect(throws: MigrationRefusal.self) {
      _ = try await folder.open(model: second, graph: options)
    }
    #expect(refusal?.from == 1 && refusal?.to == 2)
    let client = try await folder.open(model: first)
    #expect(client.welcome?.model == first.hash)
    await client.close()
  }

  // MARK: - Temporary folders

  @Test func temporaryFolderIsEmptyPrivateAndRemoved() async throws {
    let path = try await EmbeddedGraph.withTemporaryFolder { url in
      #expect(try FileManager.default.contentsOfDirectory(atPath: url.path) == [])
      #expect(mode(of: url.path) == 0o700)
      let client = try await GraphClient.embedded(at: url, model: try Fixtures.company())
      await client.close()
      #expect(FileManager.default.fileExists(atPath: url.path + "/graph.sqlite"))
      return url.path
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}

extension TemporaryDirectory {
  /// The URL of a path in the directory.
  func url(of path: String) -> URL { URL(filePath: self.path + "/" + path) }
}
