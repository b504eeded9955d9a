import Foundation
import GraphWire

/// The system calls for a plain socket; none of them blocks.
public enum PlainSocket {
  /// The error of a connection or a listener that cannot be opened.
  public struct NoConnection: Error { let code: Int32 }

  /// Returns a socket that is connected to an address.
  public static func connect(to address: ServerAddress) throws -> Int32 {
    let (domain, storage) = try name(of: address)
    let descriptor = socket(domain, streamSocket, 0)
    guard descriptor >= 0 else { throw NoConnection(code: errno) }
    let status = storage.withUnsafeBytes { bytes -> Int32 in
      guard let base = bytes.baseAddress else { return -1 }
      return Foundation.connect(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    guard status == 0 else {
      let code = errno
      Foundation.close(descriptor)
      throw NoConnection(code: code)
    }
    return descriptor
  }

  /// Returns a socket that listens on an address.
  public static func listen(at address: ServerAddress) throws -> Int32 {
    let (domain, storage) = try name(of: address)
    let descriptor = socket(domain, streamSocket, 0)
    guard descriptor >= 0 else { throw NoConnection(code: errno) }
    let status = storage.withUnsafeBytes { bytes -> Int32 in
      guard let base = bytes.baseAddress else { return -1 }
      return bind(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    guard status == 0, Foundation.listen(descriptor, 8) == 0 else {
      let code = errno
      Foundation.close(descriptor)
      throw NoConnection(code: code)
    }
    return descriptor
  }

  /// Returns the address in the kernel's format.
  private static func name(of address: ServerAddress) throws -> (domain: Int32, bytes: [UInt8]) {
    switch address {
    case .unix(let path):
      var name = sockaddr_un()
      name.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
      return (AF_UNIX, withUnsafeBytes(of: &name) { Array($0) })
    case .tcp(let host, let port), .tls(let host, let port):
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = UInt16(port).bigEndian
      guard inet_pton(AF_INET, host, &name.sin_addr) == 1 else { throw NoConnection(code: EINVAL) }
      return (AF_INET, withUnsafeBytes(of: &name) { Array($0) })
    }
  }

  /// Sends bytes without blocking.
  /// - Returns: the number of bytes sent, 0 when the socket accepts none now; nil when the peer has disconnected.
  public static func send(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int? {
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    let count = bytes.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, flags) }
    if count >= 0 { return count }
    return errno == EAGAIN || errno == EINTR ? 0 : nil
  }

  /// Receives bytes without blocking.
  /// - Returns: nil when nothing has arrived, empty at the end of the stream.
  public static func receive(from descriptor: Int32) -> [UInt8]? {
    var isWaiting = false
    let bytes = [UInt8](unsafeUninitializedCapacity: 256 << 10) { buffer, count in
      let received = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      isWaiting = received < 0 && (errno == EAGAIN || errno == EINTR)
      count = max(0, received)
    }
    return isWaiting ? nil : bytes
  }

  /// Closes a connection with a reset, if possible.
  public static func abort(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    Foundation.close(descriptor)
  }
}

#if canImport(Darwin)
  private let streamSocket = SOCK_STREAM
#else
  private let streamSocket = Int32(SOCK_STREAM.rawValue)
#endif
