import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// All boards in the order of creation, with the contents of their pages. Independent of paging.
final class BoardDirectory: PageDataSource, ResultsControllerDelegate {
  let boards: ResultsController
  /// Creates the page of a board, not yet opened.
  var makePage: (Board) -> BoardPage? = { _ in nil }
  /// Called when boards have been added, removed or changed.
  var didChange: (ResultsDifference) -> Void = { _ in }
  /// Called when the list of boards could not be loaded or followed.
  var didFail: (Refusal) -> Void = { _ in }
  /// Called when a requested page has loaded its notes or failed to.
  var didLoad: (PageRequest, BoardPage, Refusal?) -> Void = { _, _, _ in }
  private(set) var pages = [ObjectID: BoardPage]()
  private let context: ObjectContext

  init(in context: ObjectContext) {
    guard let request = ResultsRequest(Board.self, in: context.model, sort: [\.created.ascending]) else {
      preconditionFailure("the built-in model has no Board")
    }
    self.context = context
    boards = ResultsController(request, in: context)
    boards.delegate = self
  }

  /// Fetches the boards, also again after a failure.
  func ask() { boards.performFetch() }

  var pageCount: Int { boards.count }

  func board(at page: Int) -> Board? {
    (0..<boards.count).contains(page) ? boards.object(at: page) as? Board : nil
  }

  func number(of board: ObjectID) -> Int? { boards.position(of: board)?.offset }

  /// The number of a board; that of the first board if it is not in the list.
  func numberOrFirst(of board: ObjectID) -> Int { if let number = number(of: board) { number } else { 0 } }

  /// The page of a board: the open one, or a new one.
  func page(_ board: Board) -> BoardPage? {
    if let page = pages[board.id] { return page }
    pages[board.id] = makePage(board)
    return pages[board.id]
  }

  /// Adds a page that is open already.
  func adopt(_ page: BoardPage) { pages[page.board.id] = page }

  /// Finds pages by the new ids of their boards.
  func identify(_ ids: [ObjectID: ObjectID]) {
    for (old, page) in pages {
      guard let new = ids[old] else { continue }
      pages[old] = nil
      pages[new] = page
    }
  }

  /// Removes the page of a board that is no longer shown.
  func forget(_ board: ObjectID) { pages[board] = nil }

  func content(for request: PageRequest) -> BoardPage? {
    guard let board = board(at: request.page), let page = page(board) else { return nil }
    if page.isLoaded {
      page.refresh()
      return page
    }
    page.didLoad = { [weak self, weak page] refusal in
      guard let self, let page else { return }
      didLoad(request, page, refusal)
    }
    page.open()
    return nil
  }

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) { didChange(difference) }

  func results(_ controller: ResultsController, didFail refusal: Refusal) { didFail(refusal) }
}

/// One of the two page controllers that show all boards.
final class BoardPageController: PageController<BoardPage> {
  /// Called when the displayed contents have changed.
  var displayDidChange: () -> Void = {}
  /// The overlay while the board slides in and is still being loaded.
  var busyView = BusyViewHolder { BusyView() }

  override func didChangePageContent() { displayDidChange() }
}
