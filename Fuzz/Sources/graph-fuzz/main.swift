import CFuzzer
import FuzzTargets
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The target named by GRAPH_FUZZ_TARGET. The arguments belong to libFuzzer, which restarts this program with them.
enum Chosen {
  static let run: @Sendable ([UInt8]) -> Void = {
    let name = getenv("GRAPH_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    if let target = FuzzTarget(rawValue: name) { return { target.run($0) } }
    if let target = NoteFuzzTarget(rawValue: name) { return { target.run($0) } }
    let names = FuzzTarget.allCases.map(\.rawValue) + NoteFuzzTarget.allCases.map(\.rawValue)
    print("GRAPH_FUZZ_TARGET names one of \(names.joined(separator: ", "))")
    exit(64)
  }()
}

/// The function that libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  Chosen.run(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}

var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
_ = Chosen.run
exit(LLVMFuzzerRunDriver(&count, &arguments) { data, size in testOneInput(data, size) })
