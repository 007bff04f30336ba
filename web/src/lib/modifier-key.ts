/** The key that `$mod` stands for in shortcuts, as it is printed on the keyboard. */
export const modifierKey = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl';
