// Tests: LocalSocketTests.swift
import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Connects to a socket of this machine, which answers at once. A program that finds no server has then started no
/// event loop.
enum LocalSocket {
  /// - Returns: the connected socket, which the caller closes; nil if the connection must be made on an event loop: the
  ///   server is too busy to accept it at once, or the path is too long for a name.
  /// - Throws: `IOError` if no server listens at the path.
  static func connect(_ path: String) throws -> CInt? {
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    // One byte ends the name.
    guard path.utf8.count < MemoryLayout.size(ofValue: name.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
    #if os(Linux)
      let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    #else
      let type = SOCK_STREAM
    #endif
    let descriptor = socket(AF_UNIX, type, 0)
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
    #if !os(Linux)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    #endif
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connectSocket(descriptor, $0, length) }
    }
    if result == 0 { return descriptor }
    let code = errno
    close(descriptor)
    if [EAGAIN, EINTR, EINPROGRESS].contains(code) { return nil }
    throw IOError(errnoCode: code, reason: "connect")
  }
}

/// Outside of the type, which has a method of the system call's name.
private func connectSocket(_ descriptor: CInt, _ name: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
  connect(descriptor, name, length)
}
