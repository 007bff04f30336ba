import fc from 'fast-check';

/**
 * Property tests draw the same cases in every run, so that a failure comes from the change under test. Set `TOCSIN_PROPERTY_SEED` to
 * another integer to draw other cases.
 */
fc.configureGlobal({ seed: Number(process.env['TOCSIN_PROPERTY_SEED'] ?? 1) });
