/// Why somebody has to wait.
public enum BusyReason: Hashable, Sendable, CaseIterable {
  /// The first connection.
  case connecting
  /// What is to be shown is on its way.
  case loading
  /// The connection is gone; what is here can be read and edited.
  case reconnecting
  /// Changes are on their way.
  case saving

  /// What is said when whoever waits says nothing else.
  public var message: String {
    switch self {
    case .connecting: "Connecting…"
    case .loading: "Loading…"
    case .reconnecting: "Reconnecting…"
    case .saving: "Saving…"
    }
  }
}

/// One `show` of an overlay, to be ended by one `hide`.
public struct BusyToken: Hashable, Sendable {
  let number: UInt64
}

/// What an overlay looks like at a moment, over a view that is dimmed.
public struct BusyPicture: Hashable, Sendable {
  /// Why.
  public var reason: BusyReason
  /// What to write.
  public var message: String
  /// Which picture of the activity indicator, from 0 to `BusyOverlay.phaseCount` - 1.
  public var phase: Int
  /// How much is done, from 0 to 1; nil when nobody knows.
  public var progress: Double?
}

/// The busy overlay of a controller, without its pixels: one for the controller's whole life, whatever it waits for.
///
/// Shows nest: each returns a token, and the overlay goes when the last token is hidden; meanwhile it says what the newest
/// one says. It appears only after a moment, counted from the first show, so that what is quick does not flicker. Times are
/// milliseconds of a clock that never goes back, passed in.
public struct BusyOverlay: Hashable, Sendable {
  /// How many pictures the activity indicator has.
  public static let phaseCount = 8
  /// How long each of them stands, in milliseconds.
  public static let phaseMilliseconds: Int64 = 100
  /// How long it waits before it appears, in milliseconds, unless it is told otherwise.
  public static let momentMilliseconds: Int64 = 250

  private struct Show: Hashable {
    let token: BusyToken
    let reason: BusyReason
    let message: String
    var progress: Double?
  }

  private let moment: Int64
  /// Those that are not hidden, the newest last.
  private var shows = [Show]()
  /// When the first of them came.
  private var since: Int64 = 0
  private var lastNumber: UInt64 = 0

  /// An overlay that is hidden.
  /// - Parameter milliseconds: how long it waits before it appears.
  public init(appearsAfter milliseconds: Int64 = BusyOverlay.momentMilliseconds) {
    moment = milliseconds
  }

  /// Whether somebody waits, be the overlay to be seen yet or not.
  public var isBusy: Bool { !shows.isEmpty }

  /// Somebody begins to wait.
  /// - Parameters:
  ///   - message: nil for the reason's own.
  ///   - now: in milliseconds.
  public mutating func show(_ reason: BusyReason, _ message: String? = nil, at now: Int64) -> BusyToken {
    if shows.isEmpty { since = now }
    lastNumber += 1
    let token = BusyToken(number: lastNumber)
    shows.append(Show(token: token, reason: reason, message: message ?? reason.message))
    return token
  }

  /// How much is done of what `token` waits for: from 0 to 1, nil when nobody knows. A token that is hidden is passed over.
  public mutating func setProgress(_ progress: Double?, of token: BusyToken) {
    guard let index = shows.firstIndex(where: { $0.token == token }) else { return }
    shows[index].progress = progress.map { $0.isNaN ? 0 : min(1, max(0, $0)) }
  }

  /// The wait is over, by an answer, an error or a cancel. Hiding a token twice is hiding it once.
  public mutating func hide(_ token: BusyToken) {
    shows.removeAll { $0.token == token }
  }

  /// What is to be seen; nil when there is nothing to wait for, or not long enough yet.
  public func picture(at now: Int64) -> BusyPicture? {
    guard let show = shows.last, now - since >= moment else { return nil }
    let phase = (now - since - moment) / Self.phaseMilliseconds % Int64(Self.phaseCount)
    return BusyPicture(reason: show.reason, message: show.message, phase: Int(phase), progress: show.progress)
  }

  /// When the picture changes by time alone; nil when it does not: then nobody needs to wake up for it.
  public func nextChange(after now: Int64) -> Int64? {
    guard isBusy else { return nil }
    let shown = now - since - moment
    guard shown >= 0 else { return since + moment }
    return since + moment + (shown / Self.phaseMilliseconds + 1) * Self.phaseMilliseconds
  }

  /// Whether editing makes sense: not while what is to be edited is on its way. All other keys always do, and none is asked
  /// about: one can leave, go elsewhere, read help and give up whatever somebody waits for.
  public var allowsEditing: Bool { !shows.contains { $0.reason == .connecting || $0.reason == .loading } }
}

/// Builds the view of an overlay the first time that it is to be seen, and keeps it for as long as the controller lives.
public struct BusyViewHolder<View> {
  private let make: () -> View
  /// The view; nil before it was to be seen.
  public private(set) var made: View?

  /// Nothing is built yet.
  public init(make: @escaping () -> View) { self.make = make }

  /// The view for a picture; nil when nothing is to be seen.
  public mutating func view(for picture: BusyPicture?) -> View? {
    guard picture != nil else { return nil }
    if made == nil { made = make() }
    return made
  }
}
