import GraphModel
import GraphWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The account of a process, as the system reports it, regardless of the environment.
public struct UserAccount: Sendable {
  /// The effective user ID.
  public var user: UInt32
  /// The home directory in the user database; nil if the user has no entry.
  public var home: String?
  /// The system's directory for the runtime directories of logged-in users.
  public var runtimeDirectories = "/run/user"
  /// A directory that every user can write to.
  public var temporaryDirectory = "/tmp"

  /// Creates an account from its parts.
  public init(user: UInt32, home: String?) { (self.user, self.home) = (user, home) }

  /// The account of this process.
  public static var current: UserAccount {
    UserAccount(user: geteuid(), home: getpwuid(geteuid())?.pointee.pw_dir.map { String(cString: $0) })
  }

  /// Returns whether a directory exists and belongs to this user.
  func owns(_ directory: String) -> Bool {
    var status = stat()
    return stat(directory, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user
  }
}

/// A directory of one user in which the daemon creates its default socket.
public struct SocketDirectory: Sendable, Hashable {
  /// The directory of the socket.
  public let directory: String
  /// The owner of the daemon.
  let user: UInt32

  /// The socket's address.
  public var address: ServerAddress { .unix(path: directory + "/socket") }

  /// Creates the directory if it is missing.
  /// - Returns: whether only this user can create a socket there.
  public func prepare() -> Bool {
    var path = ""
    for part in directory.split(separator: "/") {
      path += "/" + part
      guard mkdir(path, 0o700) == 0 || errno == EEXIST || access(path, F_OK) == 0 else { return false }
    }
    return isSafe
  }

  /// Whether the directory belongs to the user and only the user can write to it. Another user who can write to it
  /// could replace the daemon's socket.
  public var isSafe: Bool {
    var (link, status) = (stat(), stat())
    guard lstat(directory, &link) == 0, stat(directory, &status) == 0 else { return false }
    return link.st_uid == user && status.st_uid == user && status.st_mode & S_IFMT == S_IFDIR
      && status.st_mode & 0o022 == 0
  }

  /// Whether the directory contains a socket of this user.
  public var hasSocket: Bool {
    var status = stat()
    return isSafe && lstat(directory + "/socket", &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
      && status.st_uid == user
  }
}

extension ProcessEnvironment {
  /// The default socket locations of this user, in the order in which clients try them.
  ///
  /// The daemon listens at all of them that it can prepare (`listeningPlaces`), because the environment of a client can
  /// differ: cron, `su` and system units do not set `XDG_RUNTIME_DIR`, and `su` and `sudo` may keep the variable of
  /// another user. The location in the home directory is the same in every environment of a user. If `HOME` differs
  /// from the account's home directory and belongs to the user, it was set deliberately: clients and daemons with that
  /// `HOME` connect only to each other. The last location is for users without a home directory.
  public var socketPlaces: [SocketDirectory] {
    var directories = [String]()
    if let runtime = self["XDG_RUNTIME_DIR"], runtime.hasPrefix("/"),
      account.owns(runtime) || access(runtime, F_OK) != 0
    {
      directories.append(runtime + "/stickies")
    }
    let given = self["HOME"].flatMap { $0.hasPrefix("/") && account.owns($0) ? $0 : nil }
    let own = account.home.flatMap { account.owns($0) ? $0 : nil }
    let usual = "\(account.runtimeDirectories)/\(account.user)"
    if given == nil || given == account.home, account.owns(usual) { directories.append(usual + "/stickies") }
    directories.append(dataDirectory)
    if let home = given ?? own { directories.append(home + "/.local/share/stickies") }
    directories.append("\(account.temporaryDirectory)/stickies-\(account.user)")
    var places = [SocketDirectory]()
    for directory in directories where (directory + "/socket").utf8.count <= ServerAddress.maximumPathLength {
      let place = SocketDirectory(directory: directory, user: account.user)
      if !places.contains(place) { places.append(place) }
    }
    return places
  }

  /// The locations where a daemon without configured addresses listens, in the order of `socketPlaces`; creates their
  /// directories. The last location is only used if the one in the home directory is not usable.
  public var listeningPlaces: [SocketDirectory] {
    let places = socketPlaces
    let homes = [self["HOME"], account.home].compactMap { $0.map { $0 + "/.local/share/stickies" } }
    var prepared = places.dropLast().filter { $0.prepare() }
    if let last = places.last, !prepared.contains(where: { homes.contains($0.directory) }), last.prepare() {
      prepared.append(last)
    }
    return prepared
  }

  /// The locations where clients look for the daemon: those with a socket of this user.
  public var daemonPlaces: [SocketDirectory] { socketPlaces.filter(\.hasSocket) }

  /// The address to show, and to use if nothing else is known: the first of `socketPlaces`, usable or not.
  public var defaultSocket: ServerAddress {
    let places = socketPlaces
    // The location in the temporary directory is always included, because its path is short.
    guard let first = places.first else { preconditionFailure("a user has no location for a socket") }
    return first.address
  }
}
