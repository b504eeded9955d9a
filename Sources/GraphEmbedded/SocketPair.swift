import Foundation
import GraphStore

/// Two connected stream sockets, which child processes do not inherit.
struct SocketPair {
  let client: CInt
  let server: CInt

  /// - Throws: `StoreFailure` at the limit of open files.
  init() throws {
    var ends: [CInt] = [-1, -1]
    #if os(Linux)
      let code = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
    #else
      let code = socketpair(AF_UNIX, SOCK_STREAM, 0, &ends)
    #endif
    guard code == 0 else { throw StoreFiles.failure("no connection to the graph can be made", errno) }
    #if !os(Linux)
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    #endif
    (client, server) = (ends[0], ends[1])
  }
}
