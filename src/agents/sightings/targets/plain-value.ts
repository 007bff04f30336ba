/** Returns whether a value can be inserted into a query of any language without escaping. Other values are not searched for. */
export const isPlainValue = (value: string): boolean => /^[\w.:/?#@!&()+,;=%~-]{1,300}$/.test(value);
