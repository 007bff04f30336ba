/** Looks that the command palette shares with the field that stands in for it while it loads. */
export const paletteFrame = {
  popup:
    'fixed top-[14vh] left-1/2 w-[min(36rem,calc(100vw-2rem))] -translate-x-1/2 rounded-control bg-raised shadow-float',
  input: 'h-11 w-full border-b bg-transparent px-4 text-15 outline-none placeholder:text-faint',
};
