import Testing

/// The tests' program of a build without an index. SwiftPM writes its own from the index, to run XCTest's tests; the
/// package has none.
@main
struct TestProgram {
  static func main() async {
    await Testing.__swiftPMEntryPoint() as Never
  }
}
