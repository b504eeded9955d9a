// Tests: PeerCredentialsTests.swift
import GraphHub
import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The user at the other end of a Unix-domain socket, whom the system recorded when that end connected.
enum PeerCredentials {
  /// The identity of the other end; nil if the system does not know it.
  ///
  /// A program of the server's own user could change the store's files anyway, and root could do so for everyone. A
  /// connection over TCP shows no user.
  static func peer(ofSocket descriptor: Int32) -> Peer? {
    var name = sockaddr()
    var size = socklen_t(MemoryLayout<sockaddr>.size)
    guard getsockname(descriptor, &name, &size) == 0 else { return nil }
    guard Int32(name.sa_family) == AF_UNIX else { return .network }
    return user(ofSocket: descriptor).map { peer(of: $0, server: geteuid(), name: name(of:)) }
  }

  /// The identity of a local user.
  /// - Parameters:
  ///   - server: the server's own user.
  ///   - name: returns the name of a user; nil if there is none.
  static func peer(of user: uid_t, server: uid_t, name: (uid_t) -> String?) -> Peer {
    if user == server || user == 0 { return .owner }
    let id = "\(Principal.localUserPrefix)\(user)"
    return .user(Principal(id: id, name: name(user) ?? id))
  }

  /// The user at the other end of a Unix-domain socket; nil if it is no such socket.
  static func user(ofSocket descriptor: Int32) -> uid_t? {
    #if os(Linux)
      var credentials = Credentials()
      var size = socklen_t(MemoryLayout<Credentials>.size)
      guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0,
        size == MemoryLayout<Credentials>.size, credentials.user != .max
      else { return nil }
      return credentials.user
    #else
      var (user, group) = (uid_t.max, gid_t.max)
      return getpeereid(descriptor, &user, &group) == 0 ? user : nil
    #endif
  }

  /// The C structure `ucred` of Linux.
  private struct Credentials: BitwiseCopyable {
    var process: pid_t = 0
    var user: uid_t = .max
    var group: gid_t = .max
  }

  /// The system's name of a user. It may have to ask a directory service, and does so only for users other than the
  /// server's.
  private static func name(of user: uid_t) -> String? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer -> String? in
      guard let start = buffer.baseAddress, getpwuid_r(user, &entry, start, buffer.count, &found) == 0, let found,
        let name = found.pointee.pw_name
      else { return nil }
      let text = String(cString: name)
      return text.isEmpty || text.utf8.count > 256 ? nil : text
    }
  }
}
