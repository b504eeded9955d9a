import Foundation
import GraphModel
import GraphReplicaStore
import GraphTesting
import Testing

@testable import GraphOffline

@Suite struct ReplicaFolderTests {
  @Test func eachStoreAndPrincipalHasAFolder() throws {
    let directory = try TemporaryDirectory()
    let folder = ReplicaFolder(in: directory.path, name: "server")
    #expect(folder.current == nil)
    let store = UniqueID(high: 1, low: 2)
    let (ann, bob) = (folder.folder(store: store, principal: "ann"), folder.folder(store: store, principal: "bob"))
    #expect(ann != bob && ann != folder.folder(store: UniqueID(high: 1, low: 3), principal: "ann"))
    try folder.use(ann)
    // A folder without edits is no replica.
    #expect(folder.current == nil)
    let replica = UnsentFile.Replica(id: UniqueID(high: 1, low: 1), store: store, principal: "ann", author: "ann")
    try UnsentFile.create(folder: ann, replica: replica).close()
    #expect(folder.current == ann)
    try folder.use(bob)
    #expect(folder.current == nil)
    try folder.use(ann)
    #expect(folder.current == ann)
  }

  @Test func nameThatLeavesTheFolderIsIgnored() throws {
    let directory = try TemporaryDirectory()
    let folder = ReplicaFolder(in: directory.path, name: "server")
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    for name in ["../other", ".", "..", ""] {
      try Data((name + "\n").utf8).write(to: URL(fileURLWithPath: folder.path + "/current"))
      #expect(folder.current == nil)
    }
  }
}
