import Foundation
import GraphTesting
import StickiesModel
import Testing

@Suite struct PrivateFileTests {
  private let directory: TemporaryDirectory
  private let file: PrivateFile

  init() throws {
    directory = try TemporaryDirectory()
    file = PrivateFile(path: directory.path + "/a/b/secret")
  }

  private func permissions(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func content() throws -> String { try String(contentsOfFile: file.path, encoding: .utf8) }

  @Test func writtenFileReplacesFormerOneAndIsPrivate() throws {
    #expect(!file.exists)
    try file.write("one")
    #expect(file.exists)
    // An interrupted write has left a draft.
    try "half".write(toFile: file.path + ".new", atomically: false, encoding: .utf8)
    try file.write("two")
    #expect(try content() == "two")
    #expect(try permissions(file.path) == 0o600)
    #expect(try permissions(directory.path + "/a/b") == 0o700)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path + "/a/b") == ["secret"])
  }

  @Test func draftThatIsALinkIsNotFollowed() throws {
    try file.write("one")
    let other = directory.path + "/other"
    try "kept".write(toFile: other, atomically: false, encoding: .utf8)
    try FileManager.default.createSymbolicLink(atPath: file.path + ".new", withDestinationPath: other)
    try file.write("two")
    #expect(try String(contentsOfFile: other, encoding: .utf8) == "kept")
    #expect(try content() == "two")
  }

  @Test func failedWriteKeepsFormerFileAndNamesCause() throws {
    try file.write("one")
    // A directory with a file in it has the draft's name, so the draft can't be created.
    try FileManager.default.createDirectory(atPath: file.path + ".new/x", withIntermediateDirectories: true)
    let failure = #expect(throws: PrivateFile.WriteFailure.self) { try file.write("two") }
    #expect(failure?.path == file.path + ".new")
    #expect(failure?.cause == "File exists")
    #expect(try content() == "one")
    let nowhere = PrivateFile(path: file.path + "/x/secret")
    let refused = #expect(throws: PrivateFile.WriteFailure.self) { try nowhere.write("two") }
    #expect(refused?.cause == "Not a directory")
  }
}
