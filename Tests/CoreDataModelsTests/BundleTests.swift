import Foundation
import Testing

@testable import CoreDataModels

/// Reading bundles, folders and files, and the order of versions.
@Suite struct BundleTests {
  private static let model = Data("<model><entity name=\"A\"/></model>".utf8)

  private func message(_ path: String) throws -> String {
    let error = #expect(throws: CoreDataModelError.self) { try CoreDataBundle.read(path) }
    return try #require(error).description.replacing(path, with: "…")
  }

  private func current(_ name: String) -> Data {
    Data(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict></plist>
      """.utf8)
  }

  @Test func versionsAreInTheOrderOfTheirNumbers() {
    let names = ["App 10", "App", "App 2", "App 9.5.0", "App 8.2.18", "App 14.0.0", "AppV2", "App 02", "App3"]
    #expect(
      names.map(VersionName.init).sorted().map(\.text)
        == ["App", "App 02", "App 2", "App3", "App 8.2.18", "App 9.5.0", "App 10", "App 14.0.0", "AppV2"])
    #expect(!(VersionName("A 1") < VersionName("A 1")))
    #expect(VersionName("A 1") < VersionName("A 99999999999999999999999"))
  }

  @Test(arguments: [
    ("App", "App 2", true), ("App 2", "App 10", true), ("App", "App v2", true), ("Model", "Modelv4", true),
    ("Model 1.1", "Model.1. 2", true), ("Model_0", "Model_1", true), ("AddY", "Initial", false),
    ("Model", "ModelIndexedKey", false), ("App 2", "App 2 fixed", false),
  ])
  func onlyNumbersGiveAnOrder(one: String, other: String, isNumbered: Bool) {
    #expect(VersionName(one) < VersionName(other))
    #expect(VersionName(other).isNumbered(after: VersionName(one)) == isNumbered)
  }

  @Test func bundleNamesItsCurrentVersion() throws {
    let files = [
      "B.xcdatamodeld/B.xcdatamodel/contents": Self.model, "B.xcdatamodeld/B 2.xcdatamodel/contents": Self.model,
      "B.xcdatamodeld/.xccurrentversion": current("B.xcdatamodel"), "B.xcdatamodeld/.DS_Store": Data(),
      "B.xcdatamodeld/readme": Data(),
    ]
    let temporary = try TemporaryFolder(files)
    defer { temporary.remove() }
    let folder = temporary.path
    for path in ["\(folder)/B.xcdatamodeld", "\(folder)/B.xcdatamodeld/"] {
      let bundle = try CoreDataBundle.read(path)
      #expect(bundle.name == "B" && bundle.current == "B" && bundle.versions.map(\.name) == ["B", "B 2"])
      let conversion = try CoreDataConversion(bundle)
      #expect(conversion.current.number == 1)
      #expect(
        conversion.lines == [
          "left out: readme: it is not a version of the model",
          "changed: the current version is B, but a daemon serves the highest, B 2: to serve B, delete the files of B 2",
          "changed: version 2 stores the same as version 1: a store needs no migration, and new indexes are built by the "
            + "next one",
        ])
    }
  }

  @Test func folderOrFileIsOneVersion() throws {
    let temporary = try TemporaryFolder(["M.xcdatamodel/contents": Self.model, "x/contents": Self.model])
    defer { temporary.remove() }
    let folder = temporary.path
    let paths = [("M.xcdatamodel", "M"), ("M.xcdatamodel/contents", "M"), ("x/contents", "Model"), ("x", "x")]
    for (path, name) in paths {
      let bundle = try CoreDataBundle.read("\(folder)/\(path)")
      #expect(bundle.name == name && bundle.versions.map(\.name) == [name], "\(path)")
      #expect(try CoreDataConversion(bundle).versions.map(\.isCurrent) == [true])
    }
  }

  @Test func relativePathHasTheNameOfItsFolder() throws {
    let temporary = try TemporaryFolder(["M.xcdatamodel/contents": Self.model])
    defer { temporary.remove() }
    let folder = temporary.path + "/M.xcdatamodel"
    for path in ["\(folder)/.", "\(folder)/../M.xcdatamodel/./contents", "\(folder)/../M.xcdatamodel/"] {
      #expect(try CoreDataBundle.read(path).name == "M", "\(path)")
    }
  }

  @Test func emptyListOfTheCurrentVersionStatesNone() throws {
    let files = [
      "B.xcdatamodeld/B.xcdatamodel/contents": Self.model,
      "B.xcdatamodeld/.xccurrentversion": Data("<plist><dict/></plist>".utf8),
    ]
    let temporary = try TemporaryFolder(files)
    defer { temporary.remove() }
    let bundle = try CoreDataBundle.read(temporary.path + "/B.xcdatamodeld")
    #expect(bundle.current == nil)
    #expect(try CoreDataConversion(bundle).current.sourceName == "B")
  }

  @Test func missingPartsAreNamed() throws {
    let files = [
      "empty/file": Data(), "old.xcdatamodel/elements": Data(), "B.xcdatamodeld/B.xcdatamodel/layout": Data(),
      "C.momd/C.mom": Data(), "N.xcdatamodeld/other": Data(),
    ]
    let temporary = try TemporaryFolder(files)
    defer { temporary.remove() }
    let folder = temporary.path
    #expect(try message("\(folder)/nothing") == "…: error: there is no such file or folder")
    let advice = "give an .xcdatamodeld, an .xcdatamodel or a file contents"
    #expect(try message("\(folder)/empty") == "…: error: the folder has no .xcdatamodel; \(advice)")
    #expect(try message("\(folder)/N.xcdatamodeld") == "…: error: the folder has no .xcdatamodel; \(advice)")
    let xcode = "a model of Xcode 3 must be opened and saved by a newer Xcode"
    #expect(try message("\(folder)/old.xcdatamodel") == "…: error: the folder has no file contents; \(xcode)")
    #expect(
      try message("\(folder)/B.xcdatamodeld") == "…/B.xcdatamodel: error: the folder has no file contents; \(xcode)")
    #expect(
      try message("\(folder)/C.momd")
        == "…: error: this is a compiled model; give the .xcdatamodeld that it was compiled from")
  }

  @Test func wrongCurrentVersionIsRefused() throws {
    let file = "B.xcdatamodeld/B.xcdatamodel/contents"
    let cases = [
      (
        current("C.xcdatamodel"),
        ":3:60: error: the current version is C.xcdatamodel, but the bundle has only B.xcdatamodel"
      ),
      (
        Data("<plist><dict><key>k</key></dict></plist>".utf8),
        ":1:1: error: the file names no version under _XCCurrentVersionName"
      ),
      (Data("<plist>".utf8), ":1:1: error: <plist> is not closed: the file ends at line 1, column 8"),
      (
        Data("bplist00".utf8),
        ":1:1: error: the file is a binary property list; convert it with plutil -convert xml1"
      ),
    ]
    for (data, expected) in cases {
      let temporary = try TemporaryFolder([file: Self.model, "B.xcdatamodeld/.xccurrentversion": data])
      defer { temporary.remove() }
      let folder = temporary.path
      let found = try message("\(folder)/B.xcdatamodeld")
      #expect(found == "…/.xccurrentversion\(expected)")
    }
  }

  @Test func largeFileIsRefusedBeforeItIsRead() throws {
    let temporary = try TemporaryFolder(["M.xcdatamodel/contents": Data()])
    defer { temporary.remove() }
    let folder = temporary.path
    let path = "\(folder)/M.xcdatamodel/contents"
    // A sparse file uses no disk space.
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.truncate(atOffset: 100 << 20)
    try file.close()
    #expect(
      try message(path)
        == "…: error: the file has 104857600 bytes; at most \(CoreDataBundle.maximumFileSize) are read")
  }

  @Test func folderInPlaceOfFileIsRefused() throws {
    let temporary = try TemporaryFolder(["M.xcdatamodel/contents/x": Data()])
    defer { temporary.remove() }
    let folder = temporary.path
    #expect(
      try message("\(folder)/M.xcdatamodel") == "…/contents: error: this is not a regular file that can be read")
  }
}
