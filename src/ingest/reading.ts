/** Moves when this program reads the same bytes differently: sources are then read again, and what is stored is analysed again. */
export const reading = 1;
