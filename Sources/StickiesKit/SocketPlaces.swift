import GraphModel
import GraphWire

#if canImport(Glibc)
  import Glibc
#endif

/// The account of a process: what the system knows of its user, whatever the environment says.
public struct Account: Sendable {
  /// The effective user.
  public var user: UInt32
  /// The home directory in the user database; nil for a user that is not in it.
  public var home: String?
  /// Where the system keeps a directory for each user who is logged in.
  public var runtimeDirectories = "/run/user"
  /// A directory that every user can write to.
  public var temporaryDirectory = "/tmp"

  /// An account for tests.
  public init(user: UInt32, home: String?) { (self.user, self.home) = (user, home) }

  /// The account of this process.
  public static var current: Account {
    Account(user: geteuid(), home: getpwuid(geteuid())?.pointee.pw_dir.map { String(cString: $0) })
  }

  /// Whether a directory is there and belongs to this user.
  func owns(_ directory: String) -> Bool {
    var status = stat()
    return stat(directory, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user
  }
}

/// A directory of one user in which the daemon makes its default socket.
public struct SocketPlace: Sendable, Hashable {
  /// The directory of the socket.
  public let directory: String
  /// Whose daemon it is.
  let user: UInt32

  /// The socket's address.
  public var address: ServerAddress { .unix(path: directory + "/socket") }

  /// Makes the directory where it is missing.
  /// - Returns: whether only this user can put a socket there.
  public func prepare() -> Bool {
    var path = ""
    for part in directory.split(separator: "/") {
      path += "/" + part
      guard mkdir(path, 0o700) == 0 || errno == EEXIST || access(path, F_OK) == 0 else { return false }
    }
    return isSafe
  }

  /// Whether the directory belongs to the user and only the user can write there. In a directory of another user,
  /// that user could put a socket of its own in the place of the daemon's.
  public var isSafe: Bool {
    var (link, status) = (stat(), stat())
    guard lstat(directory, &link) == 0, stat(directory, &status) == 0 else { return false }
    return link.st_uid == user && status.st_uid == user && status.st_mode & S_IFMT == S_IFDIR
      && status.st_mode & 0o022 == 0
  }

  /// Whether a socket of this user lies there.
  public var hasSocket: Bool {
    var status = stat()
    return isSafe && lstat(directory + "/socket", &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
      && status.st_uid == user
  }
}

extension ProcessEnvironment {
  /// Where the daemon of this user listens unless addresses are given, and where clients look for it, in this order.
  ///
  /// The daemon listens at all of them, because the environment of a client can differ: cron, `su` and system units
  /// set no `XDG_RUNTIME_DIR`, and `su` and `sudo` may leave the one of another user. The home directory's place is
  /// there in every environment of a user. Another `HOME` than the account's, if it belongs to the user, counts as
  /// chosen: its clients and daemons meet each other and not those of the account. The last place is for users
  /// without a home directory.
  public var socketPlaces: [SocketPlace] {
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
    var places = [SocketPlace]()
    for directory in directories where (directory + "/socket").utf8.count <= ServerAddress.maximumPathLength {
      let place = SocketPlace(directory: directory, user: account.user)
      if !places.contains(place) { places.append(place) }
    }
    return places
  }

  /// Where a daemon without addresses listens, in the order of `socketPlaces`; makes the directories. The last place
  /// is only used if the home directory has none.
  public var listeningPlaces: [SocketPlace] {
    let places = socketPlaces
    let homes = [self["HOME"], account.home].compactMap { $0.map { $0 + "/.local/share/stickies" } }
    var prepared = places.dropLast().filter { $0.prepare() }
    if let last = places.last, !prepared.contains(where: { homes.contains($0.directory) }), last.prepare() {
      prepared.append(last)
    }
    return prepared
  }

  /// Where clients look for the daemon: at the places with a socket of this user.
  public var daemonPlaces: [SocketPlace] { socketPlaces.filter(\.hasSocket) }

  /// The address that messages name: the first place that can be used.
  public var defaultSocket: ServerAddress {
    let places = socketPlaces
    // The temporary directory's place is always there: its path is short.
    guard let first = places.first else { preconditionFailure("a user has no place for a socket") }
    return first.address
  }
}
