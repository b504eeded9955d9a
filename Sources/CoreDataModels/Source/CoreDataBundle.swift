import GraphModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The files of a Core Data model: a bundle with several versions, one version, or a single `contents` file.
public struct CoreDataBundle: Sendable {
  /// A version of the model.
  public struct Version: Sendable {
    /// The name: `App 2` for `App 2.xcdatamodel`.
    public let name: String
    /// The path of its `contents`.
    public let file: String
    /// The contents.
    public let bytes: [UInt8]

    /// Creates a version.
    public init(name: String, file: String, bytes: [UInt8]) {
      (self.name, self.file, self.bytes) = (name, file, bytes)
    }
  }

  /// The model's name: `App` for `App.xcdatamodeld`.
  public let name: String
  /// The path that was read.
  public let path: String
  /// The versions in the order of their names, with numbers in the order of their values. The bundle itself records no
  /// order; the conversion finds it.
  public let versions: [Version]
  /// The name of the version that the app uses; nil if the bundle does not state it.
  public let current: String?
  /// Files and folders of the bundle that are no versions.
  let others: [String]

  /// The maximum size of a file in bytes.
  public static let maximumFileSize = XMLReader.maximumSize
  /// The maximum number of versions.
  public static let maximumVersions = 1_000

  /// Creates a bundle from contents that were read already.
  public init(
    name: String, path: String, versions: [Version], current: String? = nil
  ) {
    self.init(name: name, path: path, versions: versions, current: current, others: [])
  }

  private init(name: String, path: String, versions: [Version], current: String?, others: [String]) {
    self.name = name
    self.path = path
    self.versions = versions.sorted { VersionName($0.name) < VersionName($1.name) }
    self.current = current
    self.others = others
  }

  // MARK: - Reading

  /// Reads an `.xcdatamodeld` folder, an `.xcdatamodel` folder, or a `contents` file.
  public static func read(_ path: String) throws(CoreDataModelError) -> CoreDataBundle {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    var isFolder = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw CoreDataModelError(path, nil, "there is no such file or folder")
    }
    let last = lastComponent(of: absolute(path))
    guard isFolder else {
      let name = parentName(of: absolute(path), without: ".xcdatamodel")
      let version = Version(name: name, file: path, bytes: try bytes(of: path))
      return CoreDataBundle(name: name, path: path, versions: [version])
    }
    if last.hasSuffix(".momd") || last.hasSuffix(".mom") {
      throw CoreDataModelError(path, nil, "this is a compiled model; give the .xcdatamodeld that it was compiled from")
    }
    let names = try contents(of: path)
    if names.contains("contents"), !last.hasSuffix(".xcdatamodeld") {
      let name = stem(last, ".xcdatamodel")
      let file = path + "/contents"
      return CoreDataBundle(
        name: name, path: path, versions: [Version(name: name, file: file, bytes: try bytes(of: file))])
    }
    let folders = names.filter { $0.hasSuffix(".xcdatamodel") }
    guard !folders.isEmpty else {
      let isVersion = last.hasSuffix(".xcdatamodel")
      throw CoreDataModelError(
        path, nil,
        isVersion
          ? "the folder has no file contents; a model of Xcode 3 must be opened and saved by a newer Xcode"
          : "the folder has no .xcdatamodel; give an .xcdatamodeld, an .xcdatamodel or a file contents")
    }
    guard folders.count <= maximumVersions else {
      throw CoreDataModelError(
        path, nil, "the bundle has \(folders.count) versions; at most \(maximumVersions) are read")
    }
    var versions = [Version]()
    for folder in folders {
      let file = "\(path)/\(folder)/contents"
      guard FileManager.default.fileExists(atPath: file) else {
        throw CoreDataModelError(
          "\(path)/\(folder)", nil,
          "the folder has no file contents; a model of Xcode 3 must be opened and saved by a newer Xcode")
      }
      versions.append(Version(name: stem(folder, ".xcdatamodel"), file: file, bytes: try bytes(of: file)))
    }
    let current = names.contains(currentFile) ? try currentVersion("\(path)/\(currentFile)", folders) : nil
    let hidden = names.filter { !folders.contains($0) && $0 != currentFile && $0 != ".DS_Store" }
    return CoreDataBundle(
      name: stem(last, ".xcdatamodeld"), path: path, versions: versions, current: current, others: hidden)
  }

  private static let currentFile = ".xccurrentversion"

  private static func contents(of folder: String) throws(CoreDataModelError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    } catch {
      throw CoreDataModelError(folder, nil, "the folder can't be listed; give this user the right to read it")
    }
  }

  /// The bytes of a file. Its size is checked first.
  private static func bytes(of file: String) throws(CoreDataModelError) -> [UInt8] {
    let attributes = try? FileManager.default.attributesOfItem(atPath: realPath(of: file))
    guard let attributes, attributes[.type] as? FileAttributeType == .typeRegular, let size = size(in: attributes)
    else {
      throw CoreDataModelError(file, nil, "this is not a regular file that can be read")
    }
    guard size <= maximumFileSize else {
      throw CoreDataModelError(file, nil, "the file has \(size) bytes; at most \(maximumFileSize) are read")
    }
    guard let data = FileManager.default.contents(atPath: file) else {
      throw CoreDataModelError(file, nil, "the file can't be read; give this user the right to read it")
    }
    return Array(data)
  }

  private static func realPath(of file: String) -> String {
    guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file) else { return file }
    return target.hasPrefix("/") ? target : file.dropLast(lastComponent(of: file).count) + target
  }

  private static func size(in attributes: [FileAttributeKey: Any]) -> Int? {
    attributes[.size] as? Int ?? (attributes[.size] as? UInt64).flatMap { Int(exactly: $0) }
  }

  /// The name of the current version, from the property list that states it; nil if the list is empty.
  private static func currentVersion(_ file: String, _ folders: [String]) throws(CoreDataModelError) -> String? {
    let root: XMLElement
    do {
      root = try XMLReader.parse(try bytes(of: file), allowsDoctype: true)
    } catch let error as XMLError {
      throw CoreDataModelError(file, error.place, error.reason)
    } catch {
      throw CoreDataModelError(file, nil, "the file can't be read: \(error)")
    }
    let dictionary = root.children.first { $0.name == "dict" }
    let members = dictionary.map { $0.children } ?? []
    if root.name == "plist", dictionary != nil, members.isEmpty { return nil }
    guard root.name == "plist", let place = members.firstIndex(where: { $0.text == "_XCCurrentVersionName" }),
      place + 1 < members.count, members[place + 1].name == "string"
    else {
      throw CoreDataModelError(file, root.place, "the file names no version under _XCCurrentVersionName")
    }
    let value = members[place + 1]
    guard folders.contains(value.text) else {
      throw CoreDataModelError(
        file, value.place,
        "the current version is \(value.text.excerpt), but the bundle has only \(folders.joined(separator: ", "))")
    }
    return stem(value.text, ".xcdatamodel")
  }

  // MARK: - Names

  private static func lastComponent(of path: String) -> String {
    if let last = path.split(separator: "/").last { String(last) } else { path }
  }

  /// The path from the root, without `.` and `..`.
  private static func absolute(_ path: String) -> String {
    let full = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    var parts = [Substring]()
    for part in full.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  private static func stem(_ name: String, _ ending: String) -> String {
    name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : name
  }

  /// The name of a file's folder if it has the ending, otherwise `Model`.
  private static func parentName(of path: String, without ending: String) -> String {
    let parts = path.split(separator: "/")
    guard parts.count > 1, parts[parts.count - 2].hasSuffix(ending) else { return "Model" }
    return stem(String(parts[parts.count - 2]), ending)
  }
}
