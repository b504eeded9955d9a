/// The targets of Package.swift, read from its text.
struct PackageManifest {
  /// A target as the manifest declares it.
  struct Target {
    /// The name of the declaring function: `target`, `executableTarget`, `testTarget` or `plugin`.
    let kind: String
    let name: String
    /// The folder of its sources, relative to the root.
    let folder: String
    /// The names of the targets and products that it depends on.
    let dependencies: Set<String>
    /// Whether the plugin adds the classes of a model.
    let hasPlugin: Bool

    /// The name by which other targets import it.
    var module: String { PackageManifest.module(name) }
  }

  let targets: [Target]

  init(_ text: String) {
    let code = text.replacing(#/\/\/.*/#, with: "")
    let products = Self.products(code)
    guard let start = code.firstRange(of: "\n  targets: [") else {
      targets = []
      return
    }
    // The formatter indents each declaration by four spaces.
    targets = code[start.upperBound...].split(separator: "\n    .").compactMap { Self.target($0, products: products) }
  }

  static func module(_ name: String) -> String { name.replacing("-", with: "_") }

  /// The names of the products that each constant above the package stands for.
  private static func products(_ code: String) -> [String: [String]] {
    var found = [String: [String]]()
    for constant in code.split(separator: "\nlet ").dropFirst() {
      let name = String(constant.prefix { $0.isLetter })
      found[name] = constant.matches(of: #/\.product\(name: "(\w+)"/#).map { String($0.output.1) }
    }
    return found
  }

  private static func target(_ declaration: Substring, products: [String: [String]]) -> Target? {
    guard let name = declaration.firstMatch(of: #/name: "([^"]+)"/#)?.output.1 else { return nil }
    let kind = String(declaration.prefix { $0.isLetter })
    var dependencies = Set<String>()
    if let list = declaration.firstMatch(of: #/dependencies:\s*\[([^\]]*)\](?: \+ (\w+))?/#) {
      let words = list.output.1.matches(of: #/"[^"]+"|\w+/#).map(\.output) + [list.output.2].compactMap { $0 }
      for word in words {
        if word.hasPrefix("\"") {
          dependencies.insert(String(word.dropFirst().dropLast()))
        } else {
          dependencies.formUnion(products[String(word), default: []])
        }
      }
    }
    let path = declaration.firstMatch(of: #/path: "([^"]+)"/#)?.output.1
    let folder = path.map(String.init) ?? "\(kind == "testTarget" ? "Tests" : "Sources")/\(name)"
    return Target(
      kind: kind, name: String(name), folder: folder, dependencies: dependencies,
      hasPlugin: declaration.contains("plugins: [\"GraphModelPlugin\"]"))
  }
}
