import { z } from 'zod';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

const pageMax = 50;

export const idInput = (of: string) => z.guid('must be a UUID').describe(`ID of the ${of}.`);
export const timeInput = (description: string) =>
  z.iso.datetime({ offset: true }).describe(`${description} ISO 8601, such as 2026-11-23T00:00:00Z.`);
export const textInput = (max: number, description: string) => boundedString({ min: 1, max }).describe(description);
export const limitInput = (fallback: number) =>
  z.int().min(1).max(pageMax).default(fallback).describe('How many to return at most.');
export const cursorInput = textInput(3000, '`nextCursor` of the previous page.').optional();
