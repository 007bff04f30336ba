/** The sheet of keyboard shortcuts. */
export const shortcutTexts = {
  everywhere: {
    title: 'Everywhere',
    filter: 'Filter the list',
    close: 'Close what is open',
    sidebar: 'Collapse or expand the sidebar',
  },
  lists: {
    title: 'Lists',
    move: 'Next, previous',
    open: 'Open',
    expand: 'Open as a page',
    select: 'Select',
    selectAll: 'Select all',
  },
  hit: { title: 'A hit', statuses: ['True positive', 'False positive', 'Benign', 'Outdated', 'Reopen'] },
  item: { title: 'An item of the feed', relevant: 'Relevant', irrelevant: 'Not relevant' },
  suggestion: { title: 'A suggestion', accept: 'Accept', dismiss: 'Dismiss', restore: 'Restore' },
};
