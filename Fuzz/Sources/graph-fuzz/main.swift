import CFuzzer
import FuzzTargets
import Glibc

/// The target that GRAPH_FUZZ_TARGET names: the arguments are libFuzzer's, which runs this program again with them.
enum Chosen {
  static let target: FuzzTarget = {
    if let name = getenv("GRAPH_FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) {
      return target
    }
    print("GRAPH_FUZZ_TARGET names one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    exit(64)
  }()
}

/// What libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  Chosen.target.run(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}

var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
_ = Chosen.target
exit(LLVMFuzzerRunDriver(&count, &arguments) { data, size in testOneInput(data, size) })
