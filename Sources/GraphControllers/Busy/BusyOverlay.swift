/// The reason why the user has to wait.
public enum BusyReason: Hashable, Sendable, CaseIterable {
  /// The first connection is being established.
  case connecting
  /// The content is being loaded.
  case loading
  /// The connection was lost; loaded content can still be read and edited.
  case reconnecting
  /// Changes are being saved.
  case saving

  /// The default message.
  public var message: String {
    switch self {
    case .connecting: "Connecting…"
    case .loading: "Loading…"
    case .reconnecting: "Reconnecting…"
    case .saving: "Saving…"
    }
  }
}

/// Identifies one `show` of an overlay, for the matching `hide`.
public struct BusyToken: Hashable, Sendable {
  let number: UInt64
}

/// The appearance of an overlay at a time, over a dimmed view.
public struct BusyAppearance: Hashable, Sendable {
  /// The reason for waiting.
  public var reason: BusyReason
  /// The text to show.
  public var message: String
  /// The frame of the activity indicator, from 0 to `BusyOverlay.phaseCount` - 1.
  public var phase: Int
  /// The progress from 0 to 1; nil if unknown.
  public var progress: Double?
}

/// The state of a controller's busy overlay, without drawing. One overlay serves the controller for its lifetime.
///
/// Calls of `show` nest: each returns a token, and the overlay disappears when the last token is hidden. It shows the
/// message of the newest token. It appears only after a delay, counted from the first `show`, so that short waits do
/// not flicker. Times are milliseconds of a monotonic clock, passed in.
public struct BusyOverlay: Hashable, Sendable {
  /// The number of frames of the activity indicator.
  public static let phaseCount = 8
  /// The duration of each frame, in milliseconds.
  public static let phaseMilliseconds: Int64 = 100
  /// The default delay before the overlay appears, in milliseconds.
  public static let momentMilliseconds: Int64 = 250

  private struct ShowRequest: Hashable {
    let token: BusyToken
    let reason: BusyReason
    let message: String
    var progress: Double?
  }

  private let moment: Int64
  /// The shows that are not hidden, the newest last.
  private var requests = [ShowRequest]()
  /// The time of the first of them.
  private var since: Int64 = 0
  private var lastNumber: UInt64 = 0

  /// Creates a hidden overlay.
  /// - Parameter milliseconds: the delay before it appears.
  public init(appearsAfter milliseconds: Int64 = BusyOverlay.momentMilliseconds) {
    moment = milliseconds
  }

  /// Whether any token is not hidden, even if the overlay has not appeared yet.
  public var isBusy: Bool { !requests.isEmpty }

  /// Begins a wait and returns its token.
  /// - Parameters:
  ///   - message: the text to show; nil for the reason's default.
  ///   - now: the time in milliseconds.
  public mutating func show(_ reason: BusyReason, _ message: String? = nil, at now: Int64) -> BusyToken {
    if requests.isEmpty { since = now }
    lastNumber += 1
    let token = BusyToken(number: lastNumber)
    requests.append(ShowRequest(token: token, reason: reason, message: message ?? reason.message))
    return token
  }

  /// Sets the progress of a wait, from 0 to 1, nil if unknown. Ignores a token that is hidden.
  public mutating func setProgress(_ progress: Double?, of token: BusyToken) {
    guard let index = requests.firstIndex(where: { $0.token == token }) else { return }
    requests[index].progress = progress.map { $0.isNaN ? 0 : min(1, max(0, $0)) }
  }

  /// Ends a wait after an answer, an error or a cancellation. Hiding a token again has no effect.
  public mutating func hide(_ token: BusyToken) {
    requests.removeAll { $0.token == token }
  }

  /// Returns the overlay's appearance; nil without a wait or before the delay has passed.
  public func appearance(at now: Int64) -> BusyAppearance? {
    guard let show = requests.last, now - since >= moment else { return nil }
    let phase = (now - since - moment) / Self.phaseMilliseconds % Int64(Self.phaseCount)
    return BusyAppearance(reason: show.reason, message: show.message, phase: Int(phase), progress: show.progress)
  }

  /// Returns the next time at which the picture changes; nil without a wait, so no timer is needed.
  public func nextChange(after now: Int64) -> Int64? {
    guard isBusy else { return nil }
    let shown = now - since - moment
    guard shown >= 0 else { return since + moment }
    return since + moment + (shown / Self.phaseMilliseconds + 1) * Self.phaseMilliseconds
  }

  /// Whether the user may edit: not while content is being loaded. All other commands stay available, such as
  /// leaving, navigating, help, and cancelling the wait.
  public var allowsEditing: Bool { !requests.contains { $0.reason == .connecting || $0.reason == .loading } }
}

/// Creates the overlay's view when it is first shown and keeps it for the controller's lifetime.
public struct BusyViewHolder<View> {
  private let make: () -> View
  /// The view; nil before it was first shown.
  public private(set) var cachedView: View?

  /// Creates a holder without a view.
  public init(make: @escaping () -> View) { self.make = make }

  /// Returns the view for a picture; nil without a picture.
  public mutating func view(for picture: BusyAppearance?) -> View? {
    guard picture != nil else { return nil }
    if cachedView == nil { cachedView = make() }
    return cachedView
  }
}
