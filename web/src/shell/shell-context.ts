import { createContext, useContext } from 'react';

type Shell = { openDrawer: () => void };

export const ShellContext = createContext<Shell>({ openDrawer: () => undefined });

export const useShell = (): Shell => useContext(ShellContext);
